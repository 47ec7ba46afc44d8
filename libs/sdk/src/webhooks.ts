import type { Events, EventType } from './gen/events.ts'

/** What an endpoint receives, by its `type`. */
export type WebhookEvent = {
  [T in EventType]: {
    /** Unique; the same at every attempt. Store it, and ignore an event whose id is known. */
    id: string
    type: T
    /** When it happened, ISO 8601. */
    timestamp: string
    /** Id of the organization. */
    organization: string
    data: Events[T] | Truncated
    /** Whether it is an example that somebody sent from the console or the API. */
    test?: true
  }
}[EventType]

/** In place of data over 64 KiB. Fetch the event by `events.get`. */
export type Truncated = {
  /** Id of the record. */
  id: string
  truncated: true
}

/** Headers of a request: of fetch, of Node, or a plain object. */
export type WebhookHeaders = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>

/** Options of `unwrap`. */
export type UnwrapOptions = {
  /** How far the clock of the sender may differ, in seconds. Default: 300. */
  toleranceSeconds?: number
  /** The current time in milliseconds. Default: that of the system. */
  nowMs?: number
}

/** The request is not a webhook of Rollcall, or not a recent one: answer 400 and do not use it. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError'
}

const PREFIX = 'whsec_'
const VERSION = 'v1,'
const TOLERANCE_SECONDS = 300

/**
 * Verifies a webhook and returns its event (Standard Webhooks, https://www.standardwebhooks.com).
 *
 * An event whose data is larger than 64 KiB has the id of its record and `truncated: true` in its place: fetch the event
 * by `events.get(id)`.
 * @param body the body as received; parsed and serialized again, it would not match its signature
 * @param secret the endpoint's `whsec_…`, or several while it is rotated
 * @throws {WebhookVerificationError} a missing header, a wrong signature, an old timestamp, or a body that is no event
 */
export async function unwrap(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() }: UnwrapOptions = {},
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('webhook-timestamp is not a time')
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError('webhook-timestamp is too old, or in the future')
  const signed = joined(`${id}.${timestamp}.`, body)
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (!(await isSigned(signed, signatures, secrets))) throw new WebhookVerificationError('no signature matches')
  return parsed(typeof body === 'string' ? body : new TextDecoder().decode(body))
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = hasGet(headers) ? headers.get(name) : plainHeader(headers, name)
  if (!value) throw new WebhookVerificationError(`${name} is missing`)
  return value
}

/** Whether they are a Headers object, of whatever library. */
function hasGet(headers: WebhookHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function'
}

function plainHeader(headers: Exclude<WebhookHeaders, Pick<Headers, 'get'>>, name: string): string | undefined {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value?.[0]
}

function joined(head: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder()
  const [first, second] = [encoder.encode(head), typeof body === 'string' ? encoder.encode(body) : body]
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

/** Whether one of the signatures is by one of the secrets. Web Crypto compares in constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, header: string, secrets: readonly string[]): Promise<boolean> {
  const candidates = header.split(' ').filter(each => each.startsWith(VERSION))
  const signatures = candidates.flatMap(each => decoded(each.slice(VERSION.length)) ?? [])
  for (const secret of secrets) {
    const key = await keyOf(secret)
    for (const signature of signatures) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  }
  return false
}

function keyOf(secret: string) {
  const bytes = decoded(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (!bytes || bytes.length === 0) throw new TypeError('the secret must be whsec_ and base64, as the API answered it')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Returns the bytes of base64; undefined if it is malformed. */
function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function parsed(text: string): WebhookEvent {
  try {
    const event = JSON.parse(text)
    if (typeof event?.type === 'string' && typeof event.data === 'object') return event
  } catch {
    // The signature is right, so the sender is not Rollcall.
  }
  throw new WebhookVerificationError('the body is not an event')
}
