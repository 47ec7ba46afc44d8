import { UnsafeHost } from '@rollcall/egress'
import type { Call } from '@rollcall/rpc'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { openHeaders } from '../endpoints/own-headers.ts'
import { signatureHeaders } from '../endpoints/signing.ts'
import type { Webhook } from '../endpoints/webhook.model.ts'
import type { LoggedEvent } from '../events/logged-event.model.ts'
import type { Attempt, Delivery } from './delivery.model.ts'
import { newDelivery } from './schedule.ts'

/** Reserved for the answer before the deadline of a call. */
const ANSWER_MS = 1000
const MASK = '****'
const RATE_LIMITED = 429
const GONE = 410
/** What an attempt stores of an answer, if it stores none. */
export const NO_REPLY = { responseHeaders: '{}', responseBody: '' } as const

/** What became of one request. `error` is null if the endpoint accepted it. */
export type Outcome = Pick<
  Attempt,
  'at' | 'status' | 'durationMs' | 'error' | 'url' | 'requestHeaders' | 'responseHeaders' | 'responseBody'
> & {
  /** How many people had been erased from the event when it was read to be sent. */
  erasedBefore: number
  /** The Retry-After of the answer, in milliseconds. */
  retryAfterMs: number | null
  /** Whether the next attempt must wait a minute: the endpoint is slow, or asked for fewer requests. */
  isOverloaded: boolean
  /** Whether the endpoint wants no more events (410). */
  isGone: boolean
  /** Whether the call of a user ended it, which may wait less than a delivery: it says nothing of the endpoint. */
  isCutShort: boolean
}

type Sent = Pick<LoggedEvent, '_id' | 'erasedFor'>

/** Sends one signed request. Never throws for what the endpoint or its server does. */
export async function sendRequest(
  { secrets, poster }: Context,
  webhook: Webhook,
  { _id, erasedFor }: Sent,
  body: string,
  call?: Pick<Call, 'deadline'>,
): Promise<Outcome> {
  const at = new Date()
  const own = openHeaders(secrets, webhook)
  const standard = {
    'content-type': 'application/json',
    'user-agent': 'Rollcall-Webhooks/1',
    ...signatureHeaders(secrets, webhook, { id: String(_id), body, at }),
  }
  const request = { url: new URL(webhook.url), headers: { ...own, ...standard }, body: Buffer.from(body) }
  const signal = call && AbortSignal.timeout(Math.max(0, call.deadline - Date.now() - ANSWER_MS))
  const masked = Object.fromEntries(Object.keys(own).map(name => [name, MASK]))
  const erasedBefore = erasedFor?.length ?? 0
  const sent = { at, url: webhook.url, requestHeaders: JSON.stringify({ ...masked, ...standard }), erasedBefore }
  const began = performance.now()
  const took = () => Math.round(performance.now() - began)
  try {
    const { status, headers, body } = await poster.post({ ...request, ...(signal && { signal }) })
    return {
      ...sent,
      status,
      durationMs: took(),
      error: status >= 200 && status < 300 ? null : refusal(status, body),
      responseHeaders: JSON.stringify(headers),
      responseBody: body,
      retryAfterMs: retryAfterOf(headers['retry-after'], at),
      isOverloaded: status === RATE_LIMITED,
      isGone: status === GONE,
      isCutShort: false,
    }
  } catch (error) {
    const nothing = { status: null, ...NO_REPLY, retryAfterMs: null, isGone: false }
    const isOverloaded = isTimeout(error)
    const isCutShort = signal?.aborted === true
    return { ...sent, ...nothing, durationMs: took(), error: reasonOf(error), isOverloaded, isCutShort }
  }
}

/** Returns the stored form of an attempt. */
export function attemptOf(
  { organization, endpoint, _id, expiresAt }: Pick<Delivery, 'organization' | 'endpoint' | '_id' | 'expiresAt'>,
  { erasedBefore: _, retryAfterMs: __, isOverloaded: ___, isGone: ____, isCutShort: _____, ...outcome }: Outcome,
  trigger: Attempt['trigger'],
): Omit<Attempt, '_id' | 'body'> {
  return { organization, endpoint, delivery: _id, expiresAt, trigger, ...outcome }
}

type Tested = Sent & Pick<LoggedEvent, 'type' | 'at'>

/** Records the test of an endpoint as a delivery that counts nowhere. */
export async function recordTest(
  { collections }: Context,
  webhook: Webhook,
  event: Tested,
  body: string,
  outcome: Outcome,
): Promise<void> {
  const tenant = collections.of(webhook.organization)
  const [draft] = newDelivery(tenant, webhook, [{ ...event, expiresAt: new Date(8.64e15) }])
  const delivery: Delivery = {
    ...draft!,
    test: true,
    dueAt: null,
    state: outcome.error === null ? 'delivered' : 'failed',
    attemptCount: 1,
    lastAttemptAt: outcome.at,
    lastStatus: outcome.status,
    lastError: outcome.error,
  }
  await tenant.deliveries.insertOne(delivery)
  await tenant.attempts.insertOne({ ...attemptOf(delivery, outcome, 'manual'), _id: new Types.ObjectId(), body })
}

function refusal(status: number, body: string): string {
  const line = body.split('\n', 1)[0]!.trim().slice(0, 200)
  return line === '' ? `the endpoint answered ${status}` : `the endpoint answered ${status}: ${line}`
}

/** Returns the error of an attempt without the words of the endpoint, which may repeat the event. */
export function withoutReply(error: string | null): string | null {
  return error?.replace(/^(the endpoint answered \d+): .*/s, '$1') ?? null
}

function reasonOf(error: unknown): string {
  if (isTimeout(error)) return 'the endpoint did not answer in time'
  if (error instanceof UnsafeHost) return `host: ${error.message}`
  const { code, message } = error as NodeJS.ErrnoException
  return `no connection: ${code ?? message}`
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')
}

/** Reads Retry-After: seconds or a date (RFC 9110 §10.2.3). */
function retryAfterOf(value: string | undefined, at: Date): number | null {
  if (value === undefined) return null
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - at.getTime()
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}
