import { once } from 'node:events'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { HttpBody } from '@rollcall/contract'
import { AppError } from '@rollcall/contract'
import type { Budget, Hold } from '@rollcall/runtime'

/** Maximum size of a message of an answer in bytes. gRPC reads 16 of them ahead of a slow client. */
const PIECE_BYTES = 64 * 1024

/**
 * Writes one or many messages with backpressure, and HTTP bodies in chunks of 64 KiB. Stops when the client disconnects.
 * Buffered bytes count against the budget, which can abort a stalled stream in favour of others.
 * @throws {AppError} service.unavailable if there is no memory for a message
 */
export async function writeStream(
  grpcCall: ServerWritableStream<unknown, unknown>,
  result: unknown,
  budget: Budget,
): Promise<void> {
  const stop = new AbortController()
  grpcCall.once('cancelled', () => stop.abort())
  for await (const message of isAsyncIterable(result) ? result : [result]) {
    using hold = isLong(message) ? holdMessage(message, budget, stop) : undefined
    for (const piece of piecesOf(message)) {
      if (grpcCall.cancelled) return
      stop.signal.throwIfAborted()
      if (!grpcCall.write(piece)) await once(grpcCall, 'drain', { signal: stop.signal }).catch(() => undefined)
      hold?.touch()
    }
  }
}

function holdMessage({ data }: HttpBody, budget: Budget, stop: AbortController): Hold & Disposable {
  const refusal = new AppError('service.unavailable', {}, { cause: new Error('no memory left for answers') })
  const hold = budget.hold('', () => stop.abort(refusal))
  if (hold.resize(data.length)) throw refusal
  return { ...hold, [Symbol.dispose]: hold.release }
}

function* piecesOf(message: unknown): Generator<unknown> {
  if (!isLong(message)) return yield message
  const { contentType, data } = message
  for (let from = 0; from < data.length; from += PIECE_BYTES) {
    yield { contentType, data: data.subarray(from, from + PIECE_BYTES) }
  }
}

function isLong(message: unknown): message is HttpBody {
  return (message as Partial<HttpBody>).data instanceof Buffer && (message as HttpBody).data.length > PIECE_BYTES
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
