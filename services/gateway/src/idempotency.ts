import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { AppError, type HttpBody } from '@rollcall/contract'
import { mayHaveTakenEffect } from '@rollcall/rpc'
import type { Redis } from 'ioredis'
import type { Authorized, Checked } from './exchange.ts'

/** Does what a request asks for at most once per key of the client's, and answers its repetitions as the first time. */
export type Idempotency = {
  once(exchange: Authorized, attempt: Attempt): Promise<HttpBody>
}

/** One way to do what a request asks for. */
export type Attempt = {
  /** Does it, and yields the answer. */
  perform(): Promise<HttpBody>
  /** What tells the request from others. Reads the body unless `perform` has; undefined where that did not read it whole. */
  fingerprint(): Promise<string | undefined> | string
  /** Whether a failure of `perform` may have left a change behind. */
  mayHaveTakenEffect(failure: unknown): boolean
}

/** Settings of the kept answers. */
export type IdempotencyOptions = {
  /** Another Redis than that of limits and credentials: what clients fill must not hinder a revocation. */
  redis: Redis
  prefix: string
  /** How many keys are kept at a time, of one caller and of an organization. */
  maxKeys: { credential: number; organization: number }
}

/** What is kept under a key: nothing while the request is running; without an answer where that cannot be kept. */
type Kept = { request?: string; answer?: { contentType: string; data: string } }

/** Where a key is kept, and where the keys of the caller and of its organization are counted; all in one slot. */
type Place = { key: string; counted: readonly [credential: string, organization: string] }

const header = 'idempotency-key'
const keptSeconds = 24 * 3600
/** How long an answer may be, and what it may take compressed. Of a longer one only the success is kept. */
const longestAnswer = 64 * 1024
const keptBytes = 2 * 1024
const saneKey = /^[\x21-\x7e]{1,255}$/

/**
 * KEYS the key, those of its caller, those of the organization; ARGV[1] seconds to keep, [2] and [3] the limits. Claims the
 * key and counts it. Answers what is kept under it; or which limit is reached and the seconds until a key ends; or, if it
 * was claimed, nothing. SET is the first write: only that is refused by a full Redis.
 */
const claimScript = `
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
 * `Idempotency-Key` on authenticated POSTs, along the lines of the IETF draft of that header. A key belongs to the
 * caller. It is claimed before the call and keeps the answer of a success; a refusal gives it back, since it changed
 * nothing. Where no answer came it stays claimed: what happened is unknown, and must not happen twice.
 */
export function createIdempotency({ redis, prefix, maxKeys }: IdempotencyOptions): Idempotency {
  /** Claims the key; yields what is kept under it where it was claimed before. */
  const claim = async ({ key, counted }: Place): Promise<Kept | undefined> => {
    const settings = [keptSeconds, maxKeys.credential, maxKeys.organization]
    const answer = await askRedis(() => redis.eval(claimScript, 3, key, ...counted, ...settings))
    if (answer === null) return undefined
    if (typeof answer === 'string') return JSON.parse(answer) as Kept
    const [holder, retryAfterSeconds] = answer as [keyof typeof maxKeys, number]
    const what = `idempotency keys in use per ${holder}`
    throw new AppError('quota.too_many_pending', { limit: maxKeys[holder], what, retryAfterSeconds })
  }

  /** The change is made: that its answer could not be kept only costs its repetition a 409. */
  const keep = async ({ key }: Place, exchange: Authorized, request: string | undefined, answer: HttpBody) => {
    if (request === undefined) return
    await redis.set(key, keptAnswer(exchange, request, answer), 'EX', keptSeconds).catch(() => undefined)
  }

  const release = async ({ key, counted }: Place) => {
    const release = redis.multi().del(key)
    for (const set of counted) release.zrem(set, key)
    await release.exec().catch(() => undefined)
  }

  return {
    async once(exchange, attempt) {
      const given = exchange.request.headers[header]
      if (given === undefined) return attempt.perform()
      if (typeof given !== 'string' || !saneKey.test(given)) {
        throw new AppError('idempotency.invalid_key')
      }
      const place = placeOf(exchange, given, prefix)
      const kept = await claim(place)
      if (kept) return replay(exchange, kept, attempt)
      try {
        const answer = await attempt.perform()
        await keep(place, exchange, await attempt.fingerprint(), answer)
        return answer
      } catch (failure) {
        if (!attempt.mayHaveTakenEffect(failure)) await release(place)
        throw failure
      }
    },
  }
}

/** The attempt of a request whose body has been read. */
export function attemptOf({ match, message }: Checked, perform: () => Promise<HttpBody>): Attempt {
  return {
    perform,
    fingerprint: () => digest(JSON.stringify([match.route.path, message])),
    mayHaveTakenEffect,
  }
}

async function askRedis<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
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
  return { contentType: answer.contentType, data: inflateRawSync(Buffer.from(answer.data, 'base64')) }
}

function keptAnswer({ match }: Authorized, request: string, { contentType, data }: HttpBody): string {
  const isKeepable = !match.route.returns.secret && data.length <= longestAnswer
  const compressed = isKeepable ? deflateRawSync(data) : undefined
  const isSmall = compressed !== undefined && compressed.length <= keptBytes
  const kept: Kept = { request, ...(isSmall && { answer: { contentType, data: compressed.toString('base64') } }) }
  return JSON.stringify(kept)
}

/** The caller's own place: nobody else's requests can be answered from it, or count in it. */
function placeOf({ caller }: Authorized, given: string, prefix: string): Place {
  const { organizationId, userId, tokenId } = caller
  const organization = `${prefix}{${organizationId}}`
  const credential = `${organization}:${tokenId ?? userId}`
  return { key: `${credential}:${digest(given)}`, counted: [`${credential}:live`, `${organization}:live`] }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
