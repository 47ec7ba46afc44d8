import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Redis } from 'ioredis'

/** What is stored under an Idempotency-Key: a claim while the request runs; without `answer` if that cannot be kept. */
export type Kept = { request?: string; answer?: { contentType: string; data: string } }

/** Maximum size of an answer to keep, plain and compressed. Of a larger one, only the success is kept. */
const MAX_ANSWER_BYTES = 64 * 1024
const KEPT_BYTES = 2 * 1024
const KEYS_AT_ONCE = 200

/** Returns an answer as it is kept; undefined if it is too large. */
export function packAnswer(contentType: string, data: Buffer): Kept['answer'] {
  const compressed = data.length <= MAX_ANSWER_BYTES ? deflateRawSync(data) : undefined
  if (compressed === undefined || compressed.length > KEPT_BYTES) return undefined
  return { contentType, data: compressed.toString('base64') }
}

/** Returns the bytes of a kept answer. */
export function unpackAnswer({ data }: NonNullable<Kept['answer']>): Buffer {
  return inflateRawSync(Buffer.from(data, 'base64'))
}

/** Returns the start of all keys of an organization. They are in one hash slot. */
export function organizationKey(prefix: string, organizationId: string): string {
  return `${prefix}{${organizationId}}`
}

/** Returns the key of the set that counts, and names, the keys in use of an organization or a caller. */
export function liveKey(owner: string): string {
  return `${owner}:live`
}

/**
 * Erases the kept answers of an organization that match. Their keys stay in use, so a repetition is still not executed: it
 * is refused, as for an answer that was too large. Returns their number.
 */
export async function eraseAnswers(
  redis: Redis,
  prefix: string,
  organizationId: string,
  matches: (answer: string) => boolean,
): Promise<number> {
  const keys = await redis.zrange(liveKey(organizationKey(prefix, organizationId)), '0', '-1')
  let erased = 0
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const some = keys.slice(from, from + KEYS_AT_ONCE)
    const stored = await redis.mget(some)
    for (const [index, text] of stored.entries()) {
      const { answer, ...rest } = JSON.parse(text ?? '{}') as Kept
      if (!answer || !matches(unpackAnswer(answer).toString())) continue
      await redis.set(some[index]!, JSON.stringify(rest), 'KEEPTTL')
      erased++
    }
  }
  return erased
}
