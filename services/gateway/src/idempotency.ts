import { createHash, randomUUID } from 'node:crypto'
import { type Kept, liveKey, organizationKey, packAnswer, unpackAnswer } from '@rollcall/answers'
import { AppError, type HttpBody } from '@rollcall/contract'
import { mayHaveTakenEffect } from '@rollcall/rpc'
import type { Redis } from 'ioredis'
import type { Authorized, Checked } from './exchange.ts'

/** Performs a request at most once per key of the client, and answers repetitions with the first answer. */
export type Idempotency = {
  once(exchange: Authorized, attempt: Attempt): Promise<HttpBody>
}

/** An attempt to perform a request. */
export type Attempt = {
  /** Performs the request and returns the answer. */
  perform(): Promise<HttpBody>
  /** Identifies the request. Reads the body unless `perform` has. Returns undefined if that did not read all of it. */
  fingerprint(): Promise<string | undefined> | string
  /** Whether something may have changed although `perform` failed. */
  mayHaveTakenEffect(failure: unknown): boolean
}

/** Settings of the kept answers. */
export type IdempotencyOptions = {
  /** Not the Redis of limits and credentials: clients can fill this one, and must not block a revocation. */
  redis: Redis
  prefix: string
  /** Maximum keys in use, per caller and per organization. */
  maxKeys: { credential: number; organization: number }
}

/** Redis keys of the answer and of the sets that count keys in use. All are in one hash slot. */
type KeyLocation = { key: string; counted: readonly [credential: string, organization: string] }

const HEADER = 'idempotency-key'
const KEPT_SECONDS = 24 * 3600
/** Longer than two commands may take, and no longer than the Retry-After of a 503: then the key is free again. */
const CLAIM_MS = 2_000
const VALID_KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Claims and counts a key for a short time. KEYS: the key, the set of its caller, the set of its organization. ARGV: the
 * claim, its milliseconds, seconds to keep the sets, limit per caller, limit per organization. Returns false if it
 * claimed the key, the stored text if it was claimed before, or the limit that is reached with the seconds until a key
 * expires. SET is the first write, because a full Redis refuses it before anything has changed.
 */
const CLAIM_SCRIPT = `
local kept = redis.call('GET', KEYS[1])
if kept then return kept end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for number = 2, 3 do
  if redis.call('ZCOUNT', KEYS[number], now, '+inf') >= tonumber(ARGV[number + 2]) then
    local oldest = redis.call('ZRANGEBYSCORE', KEYS[number], now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    return { number == 2 and 'credential' or 'organization', math.max(1, math.ceil((oldest[2] - now) / 1000)) }
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
for number = 2, 3 do
  redis.call('ZREMRANGEBYSCORE', KEYS[number], '-inf', now)
  redis.call('ZADD', KEYS[number], now + ARGV[2], KEYS[1])
  redis.call('EXPIRE', KEYS[number], ARGV[3])
end
return false`

/**
 * Extends a claim. KEYS as above. ARGV: the claim, the milliseconds that must be left of it, seconds to keep it. Returns
 * 1, or 0 if the claim is over or too old: its request was answered with 503 then. EXPIRE is the first write: a full
 * Redis allows it, and what follows.
 */
const EXTEND_SCRIPT = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then return 0 end
local ends = redis.call('TIME')[1] * 1000 + ARGV[3] * 1000
redis.call('EXPIRE', KEYS[1], ARGV[3])
for number = 2, 3 do redis.call('ZADD', KEYS[number], ends, KEYS[1]) end
return 1`

/**
 * Implements `Idempotency-Key` on authenticated POSTs, close to the IETF draft of that header. A key belongs to the
 * caller. It is claimed before the call, and stores the answer of a success. A refusal releases it, because nothing has
 * changed. If no answer came, it stays claimed: the request may have taken effect and must not run again.
 *
 * Redis may run a command after it has timed out here. So a claim ends by itself, unless a second command extends it
 * before the call. That costs a round trip, of requests with the header alone.
 */
export function createIdempotency({ redis, prefix, maxKeys }: IdempotencyOptions): Idempotency {
  const timeoutMs = redis.options.commandTimeout ?? CLAIM_MS
  const evaluate = ({ key, counted }: KeyLocation, script: string, settings: (string | number)[]): Promise<unknown> =>
    queryRedis(() => redis.eval(script, 3, key, ...counted, ...settings))

  /** Claims the key, or returns what is stored if it was claimed before. */
  const claim = async (location: KeyLocation): Promise<Kept | undefined> => {
    const own = JSON.stringify({ claim: randomUUID() })
    const limits = [maxKeys.credential, maxKeys.organization]
    const startedAt = performance.now()
    const answer = await evaluate(location, CLAIM_SCRIPT, [own, CLAIM_MS, KEPT_SECONDS, ...limits])
    if (answer === null) return extend(location, own, performance.now() - startedAt)
    if (typeof answer === 'string') return JSON.parse(answer) as Kept
    const [holder, retryAfterSeconds] = answer as [keyof typeof maxKeys, number]
    const what = `idempotency keys in use per ${holder}`
    throw new AppError('quota.too_many_pending', { limit: maxKeys[holder], what, retryAfterSeconds })
  }

  /** Extends a claim of at most the given age. If that times out here, it changes nothing later. */
  const extend = async (location: KeyLocation, own: string, ageMs: number): Promise<undefined> => {
    const leftMs = Math.floor(CLAIM_MS - ageMs - timeoutMs)
    const extended = await evaluate(location, EXTEND_SCRIPT, [own, leftMs, KEPT_SECONDS])
    if (extended === 1) return
    throw new AppError('service.unavailable', {}, { cause: new Error('claim of the idempotency key is over') })
  }

  /** Stores the answer. If that fails, a repetition gets 409; the change itself has succeeded. */
  const keep = async ({ key }: KeyLocation, exchange: Authorized, request: string | undefined, answer: HttpBody) => {
    if (request === undefined) return
    await redis.set(key, keptAnswer(exchange, request, answer), 'EX', KEPT_SECONDS).catch(() => undefined)
  }

  const release = async ({ key, counted }: KeyLocation) => {
    const release = redis.multi().del(key)
    for (const set of counted) release.zrem(set, key)
    await release.exec().catch(() => undefined)
  }

  return {
    async once(exchange, attempt) {
      const given = exchange.request.headers[HEADER]
      if (given === undefined) return attempt.perform()
      if (typeof given !== 'string' || !VALID_KEY.test(given)) {
        throw new AppError('idempotency.invalid_key')
      }
      const location = locationOf(exchange, given, prefix)
      const kept = await claim(location)
      if (kept) return replay(exchange, kept, attempt)
      try {
        const answer = await attempt.perform()
        await keep(location, exchange, await attempt.fingerprint(), answer)
        return answer
      } catch (failure) {
        if (!attempt.mayHaveTakenEffect(failure)) await release(location)
        throw failure
      }
    },
  }
}

/** Returns the attempt of a request whose body has been read. */
export function attemptOf({ match, message }: Checked, perform: () => Promise<HttpBody>): Attempt {
  return {
    perform,
    fingerprint: () => digest(JSON.stringify([match.route.path, message])),
    mayHaveTakenEffect,
  }
}

async function queryRedis<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query()
  } catch (cause) {
    throw new AppError('service.unavailable', {}, { cause })
  }
}

async function replay(exchange: Authorized, { request, answer }: Kept, attempt: Attempt): Promise<HttpBody> {
  if (request === undefined) {
    throw new AppError('idempotency.unfinished')
  }
  if (request !== (await attempt.fingerprint())) {
    throw new AppError('idempotency.reused')
  }
  if (!answer)
    throw new AppError('idempotency.answer_not_kept', { isSecret: exchange.match!.route.returns.secret ?? false })
  exchange.headers.push(['Idempotency-Replayed', 'true'])
  return { contentType: answer.contentType, data: unpackAnswer(answer) }
}

function keptAnswer({ match }: Authorized, request: string, { contentType, data }: HttpBody): string {
  const answer = match.route.returns.secret ? undefined : packAnswer(contentType, data)
  return JSON.stringify({ request, ...(answer && { answer }) } satisfies Kept)
}

/** Returns the location of a caller's key. Requests of other callers neither read it nor count in it. */
function locationOf({ caller }: Authorized, given: string, prefix: string): KeyLocation {
  const { organizationId, userId, tokenId } = caller
  const organization = organizationKey(prefix, organizationId)
  const credential = `${organization}:${tokenId ?? userId}`
  return { key: `${credential}:${digest(given)}`, counted: [liveKey(credential), liveKey(organization)] }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
