import type { Event, Origin } from '@rollcall/runtime'
import type { IHeaders, KafkaMessage, Message } from 'kafkajs'

/** Thrown for an event that no retry can process: it is dead-lettered at once. Handlers may throw it too. */
export class UnprocessableEvent extends Error {
  override name = 'UnprocessableEvent'
}

/** The attributes sent as headers: CloudEvents 1.0, binary content mode, and our extension `organization`. */
const attributes = ['id', 'type', 'source', 'subject', 'organization', 'time'] as const

/** Returns an event as a Kafka message. The key is the subject, which keeps the events of one aggregate in order. */
export function toMessage(event: Event): Message {
  const headers: IHeaders = { ce_specversion: '1.0', 'content-type': 'application/json' }
  for (const name of attributes) headers[`ce_${name}`] = event[name]
  if (event.traceparent !== undefined) headers.ce_traceparent = event.traceparent
  if (event.origin) Object.assign(headers, originHeaders(event.origin))
  return { key: event.subject, value: JSON.stringify(event.data), headers }
}

/** Reads an event from a Kafka message. Throws `UnprocessableEvent` if it is not a valid event. */
export function fromMessage({ headers = {}, value }: Pick<KafkaMessage, 'headers' | 'value'>): Event {
  if (headerText(headers, 'ce_specversion') !== '1.0') throw new UnprocessableEvent('not a CloudEvents 1.0 message')
  const read = (name: (typeof attributes)[number]): string => headerText(headers, `ce_${name}`)
  return {
    id: read('id'),
    type: read('type'),
    source: read('source'),
    subject: read('subject'),
    organization: read('organization'),
    time: read('time'),
    data: parseData(value),
    ...(headers.ce_traceparent && { traceparent: headerText(headers, 'ce_traceparent') }),
    ...(headers.ce_actorkind && { origin: readOrigin(headers) }),
  }
}

/** Writes an origin as extension attributes; those without a value are left out. */
function originHeaders({ actor, credential, ip, requestId }: Origin): IHeaders {
  const values = {
    ce_actorkind: actor.kind,
    ce_actorid: actor.id,
    ce_actorname: actor.name,
    ce_credentialkind: credential?.kind,
    ce_credentialid: credential?.id,
    ce_clientip: ip,
    ce_requestid: requestId,
  }
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as IHeaders
}

function readOrigin(headers: IHeaders): Origin {
  const read = (name: string) => headers[name]?.toString() ?? null
  const kind = read('ce_credentialkind')
  return {
    actor: {
      kind: headerText(headers, 'ce_actorkind') as Origin['actor']['kind'],
      id: read('ce_actorid'),
      name: read('ce_actorname') ?? '',
    },
    credential: kind === 'session' || kind === 'token' ? { kind, id: headerText(headers, 'ce_credentialid') } : null,
    ip: read('ce_clientip'),
    requestId: read('ce_requestid'),
  }
}

function headerText(headers: IHeaders, name: string): string {
  const value = headers[name]
  if (value === undefined || value.length === 0) throw new UnprocessableEvent(`header ${name} is missing`)
  return value.toString()
}

function parseData(value: Buffer | null): Event['data'] {
  const data = parseJson(value?.toString() ?? '')
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new UnprocessableEvent('data is not a JSON object')
  }
  return data as Event['data']
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UnprocessableEvent('data is not JSON', { cause })
  }
}
