import type { IncomingMessage } from 'node:http'
import { AppError } from '@rollcall/contract'
import type { Hold } from '@rollcall/runtime'
import type { Exchange } from './exchange.ts'

/** Maximum size of a body. */
export const MAX_BODY_BYTES = 2 ** 20
const MAX_DEPTH = 100
/** Maximum chunks of a body, more than any client needs for 1 MiB. Each costs time, even if it is tiny. */
const MAX_PIECES = 2 ** 16
const KEPT_CHUNK_BYTES = 16 * 1024
const MAX_TAIL_BYTES = 64 * 1024
const RETRY_AFTER_SECONDS = 5

const utf8 = new TextDecoder('utf-8', { fatal: true })
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i
const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Reads the JSON body of a request. Returns undefined if there is none.
 * @throws {AppError} request.wrong_content_type, wrong_encoding, too_large, too_slow, too_many_pieces, malformed_json
 * or too_deep; quota.too_many_pending or service.unavailable if there is no memory for it
 */
export async function readJson(exchange: Exchange): Promise<unknown> {
  const { request } = exchange
  if (!hasBody(request)) return undefined
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new AppError('request.wrong_content_type', { expected: 'application/json' })
  const bytes = await readBytes(exchange)
  return bytes.length === 0 ? undefined : parseJson(bytes)
}

/** Whether the body of a request is a URL-encoded form. */
export function isForm({ headers }: IncomingMessage): boolean {
  return FORM_TYPE.test(headers['content-type'] ?? '')
}

/**
 * Reads the URL-encoded form of a request.
 * @throws {AppError} request.malformed_form, and as `readJson`
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

/**
 * Reads a whole body. Holds its memory in the budget until the exchange ends.
 * @throws {AppError} as `readJson`, except those of the type and of JSON
 */
export function readBytes(exchange: Exchange): Promise<Buffer> {
  const { request, bounds } = exchange
  const { headers } = request
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw new AppError('request.wrong_encoding')
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw new AppError('request.too_large')
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const fail = (error: Error) => {
    body.drop()
    reject(error)
  }
  const cutOff = (error: AppError) => {
    exchange.refuseConnection()
    fail(error)
  }
  const hold = exchange.hold(bounds.bodies, () => fail(outOfMemory()))
  const body = gather(hold)
  const unwatch = bounds.watch.add({
    progress: () => 0,
    atLeast: 1,
    cut: () => cutOff(new AppError('request.too_slow')),
  })
  let pieces = 0
  const take = (chunk: Buffer) => {
    if (body.size + chunk.length > MAX_BODY_BYTES) return fail(new AppError('request.too_large'))
    if (++pieces > MAX_PIECES) return cutOff(new AppError('request.too_many_pieces'))
    const exhausted = body.add(chunk)
    if (exhausted) fail(exhausted === 'total' ? outOfMemory() : overShare(bounds.bodies.share))
  }
  const finish = () => {
    hold.pin()
    resolve(body.bytes())
  }
  request.on('data', take).once('end', finish).once('error', fail)
  // A refusal leaves the connection open to carry the answer. The rest of the body is discarded.
  return promise.finally(() => {
    unwatch()
    request.off('data', take)
  })
}

/**
 * Collects the chunks of a body. Large chunks are kept as they are. Small ones are copied together, so that they take
 * little more memory than their bytes.
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
    /** Adds a chunk, or returns which limit leaves no room for it. */
    add(chunk: Buffer): 'share' | 'total' | undefined {
      const isKept = size === 0 || chunk.length >= KEPT_CHUNK_BYTES
      if (isKept || tailSize + chunk.length > tail.length) {
        const length = isKept ? chunk.length : Math.max(chunk.length, Math.min(size, MAX_TAIL_BYTES))
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
    /** Frees the memory. The request, and with it this closure, may live longer. */
    drop() {
      pieces = []
      tail = Buffer.alloc(0)
      hold.release()
    },
  }
}

const outOfMemory = () =>
  new AppError('service.unavailable', {}, { cause: new Error('no memory left for request bodies') })

function overShare(limit: number): AppError {
  return new AppError('quota.too_many_pending', {
    limit,
    what: 'bytes of request bodies at once per client address',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

/**
 * Parses JSON in UTF-8.
 * @throws {AppError} request.malformed_json, or request.too_deep for nesting that could exhaust the stack of a walk
 */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new AppError('request.malformed_json')
  }
  if (isDeeper(value, MAX_DEPTH)) throw new AppError('request.too_deep', { levels: MAX_DEPTH })
  return value
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1))
}
