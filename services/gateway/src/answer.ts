import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError, type HttpBody } from '@rollcall/contract'
import type { Hold } from '@rollcall/runtime'
import helmet from 'helmet'
import type { Exchange, Header } from './exchange.ts'

/** What helmet has to say to an API. It is the same for every request, so helmet is asked once. */
const securityHeaders = headersOf(
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    xFrameOptions: { action: 'deny' },
    // Of use to documents only.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
)

/** Headers of every answer of the API, which is for the caller alone. */
export const commonHeaders: readonly Header[] = [...securityHeaders, ['Cache-Control', 'no-store']]
/** Headers as Node writes them fastest: name, value, name, value. */
const rawCommonHeaders = commonHeaders.flat()

const shortBodyBytes = 16 * 1024
/** Written at once: a client that takes none of it in its time is cut off. */
const pieceBytes = 64 * 1024
/** What a stream may have read ahead of its client: gRPC's queue of 16 messages, each a piece of 64 KiB. */
const streamBytes = 16 * pieceBytes

/** Answers with a whole body. @throws {AppError} unavailable where there is no memory to hold it for the client */
export function answer(exchange: Exchange, status: number, { contentType, data }: HttpBody): void {
  const held = data.length > shortBodyBytes ? holdAnswer(exchange, data.length) : undefined
  writeHead(exchange, status, contentType, data.length)
  // Node joins head and body into one write if the body is a text; as Latin-1 its bytes stay what they are.
  if (held) writePieces(exchange.response, data, held)
  else exchange.response.end(data.toString('latin1'), 'latin1')
}

/** Writes at the pace of the client, so that it shows whether it takes anything. */
function writePieces(response: Exchange['response'], data: Buffer, held: Hold): void {
  let from = 0
  const write = () => {
    held.touch()
    while (from + pieceBytes < data.length) {
      const isTaken = response.write(data.subarray(from, from + pieceBytes))
      from += pieceBytes
      if (!isTaken) return void response.once('drain', write)
    }
    response.end(data.subarray(from))
  }
  write()
}

/** Holds memory for an answer until the client has taken it. A reader that stalls loses it to others. */
function holdAnswer(exchange: Exchange, bytes: number): Hold {
  const hold = exchange.hold(exchange.bounds.answers, () => exchange.response.destroy())
  if (hold.resize(bytes))
    throw new AppError('service.unavailable', {}, { cause: new Error('no memory left for answers') })
  return hold
}

/**
 * Answers with a stream of chunks, at the pace of the client. A stream of one chunk is answered whole, so that a page
 * has its Content-Length. What fails before the second chunk is known is thrown and can still be answered; what fails
 * later breaks the connection off: the client must not take the part for the whole.
 */
export async function answerStream(exchange: Exchange, status: number, stream: AsyncIterable<HttpBody>): Promise<void> {
  const chunks = stream[Symbol.asyncIterator]()
  const first = await chunks.next()
  const { contentType, data } = first.done
    ? { contentType: 'application/octet-stream', data: Buffer.alloc(0) }
    : first.value
  const second = first.done ? first : await chunks.next()
  if (second.done) return answer(exchange, status, { contentType, data })
  if (exchange.request.method === 'HEAD') {
    writeHead(exchange, status, contentType)
    exchange.response.end()
    await chunks.return?.()
    return
  }
  const held = await holdStream(exchange, chunks)
  writeHead(exchange, status, contentType)
  await pipeline(bytesOf([data, second.value.data], chunks, held), exchange.response)
}

async function holdStream(exchange: Exchange, chunks: AsyncIterator<HttpBody>): Promise<Hold> {
  try {
    return holdAnswer(exchange, streamBytes)
  } catch (refusal) {
    await chunks.return?.()
    throw refusal
  }
}

async function* bytesOf(read: readonly Buffer[], rest: AsyncIterator<HttpBody>, held: Hold): AsyncGenerator<Buffer> {
  try {
    for (const data of read) yield* taken(data, held)
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield* taken(next.value.data, held)
  } finally {
    await rest.return?.()
  }
}

/** The hold can be lost while the client is waited for, not while the service is. */
function* taken(data: Buffer, held: Hold): Generator<Buffer> {
  held.touch()
  yield data
  held.pin()
}

/** Writes the head at once: that is much faster in Node than one header after the other. */
function writeHead(exchange: Exchange, status: number, contentType: string, length?: number): void {
  const raw = ['Content-Type', contentType, 'X-Request-Id', exchange.id, ...rawCommonHeaders]
  for (const [name, value] of exchange.limitHeaders ?? []) raw.push(name, value)
  for (const [name, value] of exchange.headers) raw.push(name, value)
  if (length !== undefined) raw.push('Content-Length', String(length))
  exchange.response.writeHead(status, raw)
}

function headersOf(
  middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void,
): Header[] {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  middleware(request, response, () => {})
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)])
}
