import { createHash } from 'node:crypto'
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
const VALID_KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Claims and counts a key. KEYS: the key, the set of its caller, the set of its organization. ARGV: seconds to keep,
 * limit per caller, limit per organization. Returns false if it claimed the key, the stored text if it was claimed
 * before, or the limit that is reached with the seconds until a key expires. SET is the first write, because a full
 * Redis refuses it before anything has changed.
 */
const CLAIM_SCRIPT = `
local kept = redis.call('GET', KEYS[1])
if kept then return kept end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local seconds = tonumber(ARGV[1])
for number = 2, 3 do
  if redis.call('ZCOUNT', KEYS[number], now, '+inf') >= tonumber(ARGV[number]) then
    local oldest = redis.call('ZRANGEBYSCORE', KEYS[number], now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    return { number == 2 and 'credential' or 'organization', math.max(1, math.ceil((oldest[2] - now) / 1000)) }
  end
end
redis.call('SET', KEYS[1], '{}', 'EX', seconds)
for number = 2, 3 do
  redis.call('ZREMRANGEBYSCORE', KEYS[number], '-inf', now)
  redis.call('ZADD', KEYS[number], now + seconds * 1000, KEYS[1])
  redis.call('EXPIRE', KEYS[number], seconds)
end
return false`

/**
 * Implements `Idempotency-Key` on authenticated POSTs, close to the IETF draft of that header. A key belongs to the
 * caller. It is claimed before the call, and stores the answer of a success. A refusal releases it, because nothing has
 * changed. If no answer came, it stays claimed: the request may have taken effect and must not run again.
 */
export function createIdempotency({ redis, prefix, maxKeys }: IdempotencyOptions): Idempotency {
  /** Claims the key, or returns what is stored if it was claimed before. */
  const claim = async ({ key, counted }: KeyLocation): Promise<Kept | undefined> => {
    const settings = [KEPT_SECONDS, maxKeys.credential, maxKeys.organization]
    const answer = await queryRedis(() => redis.eval(CLAIM_SCRIPT, 3, key, ...counted, ...settings))
    if (answer === null) return undefined
    if (typeof answer === 'string') return JSON.parse(answer) as Kept
    const [holder, retryAfterSeconds] = answer as [keyof typeof maxKeys, number]
    const what = `idempotency keys in use per ${holder}`
    throw new AppError('quota.too_many_pending', { limit: maxKeys[holder], what, retryAfterSeconds })
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
