import type { IncomingMessage } from 'node:http'
import { AppError } from '@rollcall/contract'
import type { Hold } from '@rollcall/runtime'
import type { Exchange } from './exchange.ts'

/** What a JSON body may have at most. */
export const maxBodyBytes = 2 ** 20
const maxDepth = 100
/** More pieces than any client needs for 1 MiB: each of them takes time, however small it is. */
const maxPieces = 2 ** 16
const keptChunkBytes = 16 * 1024
const largestTailBytes = 64 * 1024
const retryAfterSeconds = 5

const utf8 = new TextDecoder('utf-8', { fatal: true })
const formType = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i
const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Reads a request's JSON body; undefined where there is none.
 * @throws {AppError} bad_request for another content type or encoding, more than 1 MiB, what takes too long to arrive or is
 * not JSON in UTF-8; too_many_pending, unavailable where there is no memory for it
 */
export async function readJson(exchange: Exchange): Promise<unknown> {
  const { request } = exchange
  if (!hasBody(request)) return undefined
  if (!jsonType.test(request.headers['content-type'] ?? ''))
    throw new AppError('request.wrong_content_type', { expected: 'application/json' })
  const bytes = await readBytes(exchange)
  return bytes.length === 0 ? undefined : parseJson(bytes)
}

/** Whether a request brings a form of the kind that `readForm` reads. */
export function isForm({ headers }: IncomingMessage): boolean {
  return formType.test(headers['content-type'] ?? '')
}

/**
 * Reads a request's URL-encoded form.
 * @throws {AppError} as `readJson` does
 */
export async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  const bytes = await readBytes(exchange)
  try {
    return new URLSearchParams(utf8.decode(bytes))
  } catch {
    throw new AppError('request.malformed_form')
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Reads a body whole. Its memory is held on the budget until the exchange ends. */
function readBytes(exchange: Exchange): Promise<Buffer> {
  const { request, bounds } = exchange
  const { headers } = request
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new AppError('request.wrong_encoding')
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw new AppError('request.too_large')
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = (error: Error) => {
    body.drop()
    reject(error)
  }
  const cutOff = (error: AppError) => {
    exchange.refuseConnection()
    fail(error)
  }
  const hold = exchange.hold(bounds.bodies, () => fail(noRoom()))
  const body = gather(hold)
  const unwatch = bounds.watch.add({
    progress: () => 0,
    atLeast: 1,
    cut: () => cutOff(new AppError('request.too_slow')),
  })
  let pieces = 0
  const take = (chunk: Buffer) => {
    if (body.size + chunk.length > maxBodyBytes) return fail(new AppError('request.too_large'))
    if (++pieces > maxPieces) return cutOff(new AppError('request.too_many_pieces'))
    const exhausted = body.add(chunk)
    if (exhausted) fail(exhausted === 'total' ? noRoom() : tooMuch(bounds.bodies.share))
  }
  const finish = () => {
    hold.pin()
    resolve(body.bytes())
  }
  request.on('data', take).once('end', finish).once('error', fail)
  // The connection has to outlive a refusal: it still carries the answer. What is still to come is dropped.
  return promise.finally(() => {
    unwatch()
    request.off('data', take)
  })
}

/**
 * Gathers the pieces of a body. Large chunks are kept as they came; small ones are copied together, so that tiny chunks take
 * little more memory than their bytes do.
 */
function gather(hold: Hold) {
  let pieces: Buffer[] = []
  let tail: Buffer = Buffer.alloc(0)
  let tailSize = 0
  let size = 0
  let allocated = 0
  const allocate = (length: number) => {
    const exhausted = hold.resize(allocated + length)
    if (!exhausted) allocated += length
    return exhausted
  }
  const closeTail = () => {
    if (tailSize > 0) pieces.push(tail.subarray(0, tailSize))
    tail = Buffer.alloc(0)
    tailSize = 0
  }
  return {
    get size() {
      return size
    },
    /** Answers what is used up where there is no room for a chunk. */
    add(chunk: Buffer): 'share' | 'total' | undefined {
      const isKept = size === 0 || chunk.length >= keptChunkBytes
      if (isKept || tailSize + chunk.length > tail.length) {
        const length = isKept ? chunk.length : Math.max(chunk.length, Math.min(size, largestTailBytes))
        const exhausted = allocate(length)
        if (exhausted) return exhausted
        closeTail()
        if (isKept) pieces.push(chunk)
        else tail = Buffer.allocUnsafe(length)
      }
      if (!isKept) tailSize += chunk.copy(tail, tailSize)
      size += chunk.length
      return undefined
    },
    bytes() {
      closeTail()
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size)
    },
    /** The request, and with it all that listens to it, lives on for a while. */
    drop() {
      pieces = []
      tail = Buffer.alloc(0)
      hold.release()
    },
  }
}

const noRoom = () => new AppError('service.unavailable', {}, { cause: new Error('no memory left for request bodies') })

function tooMuch(limit: number): AppError {
  return new AppError('quota.too_many_pending', {
    limit,
    what: 'bytes of request bodies at once per client address',
    retryAfterSeconds,
  })
}

/**
 * Parses JSON text in UTF-8.
 * @throws {AppError} bad_request for what is not, and for nesting that would exhaust the stack of whoever walks it
 */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new AppError('request.malformed_json')
  }
  if (isDeeper(value, maxDepth)) throw new AppError('request.too_deep', { levels: maxDepth })
  return value
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1))
}
