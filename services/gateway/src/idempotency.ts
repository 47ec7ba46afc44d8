import { createHash } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import { type HttpBody, mayHaveTakenEffect } from '@rollcall/rpc'
import type { Redis } from 'ioredis'
import type { Exchange } from './exchange.ts'

/** Does what a request asks for at most once per key of the client's, and answers its repetitions as the first time. */
export type Idempotency = {
  /** @param perform does it, and yields the answer */
  once(exchange: Exchange, perform: () => Promise<HttpBody>): Promise<HttpBody>
}

type Kept = { request: string; answer?: { contentType: string; data: string } }

const header = 'idempotency-key'
const keptSeconds = 24 * 3600
/** Answers of POSTs are short; a longer one would be paid for in the memory that limits and credentials live in. */
const keptBytes = 16 * 1024
const saneKey = /^[\x21-\x7e]{1,255}$/

/**
 * `Idempotency-Key` on authenticated POSTs, along the lines of the IETF draft of that header. A key belongs to the
 * caller. It is claimed before the call and keeps the answer of a success; a refusal gives it back, since it changed
 * nothing. Where no answer came it stays claimed: what happened is unknown, and must not happen twice.
 */
export function createIdempotency({ redis, prefix }: { redis: Redis; prefix: string }): Idempotency {
  /** Claims the key; yields what is kept under it where it was claimed before. */
  const claim = async (key: string, request: string): Promise<Kept | undefined> => {
    const mine: Kept = { request }
    const [claimed, kept] = await askRedis(() => claimOrRead(redis, key, JSON.stringify(mine)))
    if (claimed === 'OK') return undefined
    if (kept === null) throw new AppError('unavailable', {}, { cause: new Error('the key ran out just now') })
    return JSON.parse(kept) as Kept
  }

  return {
    async once(exchange, perform) {
      const given = exchange.request.headers[header]
      if (given === undefined) return perform()
      if (typeof given !== 'string' || !saneKey.test(given)) {
        throw new AppError('bad_request', { message: 'Idempotency-Key must be 1 to 255 visible ASCII characters' })
      }
      const key = prefix + keyOf(exchange, given)
      const request = fingerprint(exchange)
      const kept = await claim(key, request)
      if (kept) return replay(exchange, kept, request)
      try {
        const answer = await perform()
        // The change is made: that its answer could not be kept only costs its repetition a 409.
        if (isKeepable(exchange, answer))
          await redis.set(key, keptAnswer(request, answer), 'EX', keptSeconds).catch(() => undefined)
        return answer
      } catch (failure) {
        if (!mayHaveTakenEffect(failure)) await redis.del(key).catch(() => undefined)
        throw failure
      }
    },
  }
}

function isKeepable({ match }: Exchange, { data }: HttpBody): boolean {
  return !match!.route.returns.secret && data.length <= keptBytes
}

async function claimOrRead(redis: Redis, key: string, value: string): Promise<[unknown, string | null]> {
  const results = await redis.multi().set(key, value, 'EX', keptSeconds, 'NX').get(key).exec()
  const [set, get] = results ?? []
  const error = set?.[0] ?? get?.[0]
  if (error) throw error
  return [set?.[1], (get?.[1] ?? null) as string | null]
}

async function askRedis<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    throw new AppError('unavailable', {}, { cause })
  }
}

function replay(exchange: Exchange, { request, answer }: Kept, asked: string): HttpBody {
  if (request !== asked) throw conflict('this Idempotency-Key was used for another request')
  if (!answer) {
    const isSecret = exchange.match!.route.returns.secret
    throw conflict(
      isSecret
        ? 'a request with this Idempotency-Key was made; its answer holds a secret and was not kept'
        : 'a request with this Idempotency-Key is still running, or ended without an answer that could be kept',
    )
  }
  exchange.headers.push('Idempotency-Replayed', 'true')
  return { contentType: answer.contentType, data: Buffer.from(answer.data, 'base64') }
}

function conflict(message: string): AppError {
  return new AppError('conflict', { message })
}

function keptAnswer(request: string, { contentType, data }: HttpBody): string {
  const kept: Kept = { request, answer: { contentType, data: data.toString('base64') } }
  return JSON.stringify(kept)
}

/** The caller's own key: nobody else's requests can be answered with it. */
function keyOf({ caller }: Exchange, given: string): string {
  const { organizationId, userId, tokenId } = caller!
  return digest(JSON.stringify([organizationId, tokenId ?? userId, given]))
}

function fingerprint({ match, message }: Exchange): string {
  return digest(JSON.stringify([match!.route.path, message]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
