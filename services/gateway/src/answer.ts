import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError, type HttpBody } from '@rollcall/contract'
import type { PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Hold } from '@rollcall/runtime'
import helmet from 'helmet'
import { corsHeaders } from './cors.ts'
import type { Exchange, Header } from './exchange.ts'

const helmetOptions = {
  xFrameOptions: { action: 'deny' },
  // These headers concern documents of applications only.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} as const
/** The headers that helmet sets for an API. They are the same for every request, so helmet runs once. */
const securityHeaders = headersOf(
  helmet({
    ...helmetOptions,
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  }),
)

/** Headers of every answer of the API. No cache stores an answer: it is for the caller alone. */
export const commonHeaders: readonly Header[] = [...securityHeaders, ['Cache-Control', 'no-store'], ['Vary', 'Origin']]
/** The same as a flat list of names and values, which Node writes fastest. */
const rawCommonHeaders = commonHeaders.flat()
/** Headers of public pages: mail programs show their images in documents of other sites. No search engine lists them. */
const rawPageHeaders = [
  ...headersOf(
    helmet({
      ...helmetOptions,
      contentSecurityPolicy: false,
      referrerPolicy: false,
      crossOriginResourcePolicy: { policy: 'cross-origin' },
    }),
  ),
  ['X-Robots-Tag', 'noindex'],
].flat()
const CLOSED_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const SHORT_BODY_BYTES = 16 * 1024
/** Size of one write. A client that does not read a whole one in time is cut off. */
const PIECE_BYTES = 64 * 1024
/** Maximum that a stream reads ahead of its client: gRPC queues 16 messages of 64 KiB. */
const STREAM_BYTES = 16 * PIECE_BYTES

/**
 * Answers with a whole body.
 * @throws {AppError} service.unavailable if there is no memory to hold it for the client
 */
export function answer(exchange: Exchange, status: number, body: HttpBody): void {
  if (body.data.length > SHORT_BODY_BYTES) answerLong(exchange, status, body)
  else answerShort(exchange, status, body)
}

/** Answers with a short body, such as a refusal. Holds no memory for the client, so that no refusal can fail. */
export function answerShort(exchange: Exchange, status: number, { contentType, data }: HttpBody): void {
  writeHead(exchange, status, contentType, data.length)
  // Node joins head and body into one write if the body is a string. Latin-1 keeps the bytes unchanged.
  exchange.response.end(data.toString('latin1'), 'latin1')
}

function answerLong(exchange: Exchange, status: number, { contentType, data }: HttpBody): void {
  const held = holdAnswer(exchange, data.length)
  writeHead(exchange, status, contentType, data.length)
  writePieces(exchange.response, data, held)
}

/** Answers with a public page. */
export function answerPage(exchange: Exchange, page: PageResponse): void {
  const {
    status,
    contentType,
    data,
    location,
    contentSecurityPolicy = CLOSED_POLICY,
    cacheControl = 'no-store',
    referrerPolicy = 'no-referrer',
  } = page
  const raw = ['X-Request-Id', exchange.id, ...rawPageHeaders, 'Content-Security-Policy', contentSecurityPolicy]
  raw.push('Cache-Control', cacheControl, 'Referrer-Policy', referrerPolicy)
  raw.push('Content-Type', contentType, 'Content-Length', String(data.length))
  if (location !== undefined) raw.push('Location', location)
  if (exchange.allowedOrigins) raw.push('Vary', 'Origin', ...corsHeaders(exchange).flat())
  for (const [name, value] of [...(exchange.limitHeaders ?? []), ...exchange.headers]) raw.push(name, value)
  exchange.response.writeHead(status || 200, raw)
  exchange.response.end(data)
}

/** Answers without a body: 204. */
export function answerEmpty(exchange: Exchange): void {
  writeHead(exchange, 204)
  exchange.response.end()
}

/** Writes at the pace of the client, so that the hold records whether the client reads. */
function writePieces(response: Exchange['response'], data: Buffer, held: Hold): void {
  let from = 0
  const write = () => {
    held.touch()
    while (from + PIECE_BYTES < data.length) {
      const isTaken = response.write(data.subarray(from, from + PIECE_BYTES))
      from += PIECE_BYTES
      if (!isTaken) return void response.once('drain', write)
    }
    response.end(data.subarray(from))
  }
  write()
}

/** Holds memory for an answer until the client has read it. A stalled reader can be evicted. */
function holdAnswer(exchange: Exchange, bytes: number): Hold {
  const hold = exchange.hold(exchange.bounds.answers, () => exchange.response.destroy())
  if (hold.resize(bytes))
    throw new AppError('service.unavailable', {}, { cause: new Error('no memory left for answers') })
  return hold
}

/**
 * Answers with a stream of chunks, at the pace of the client. A stream of one chunk is answered whole, so that a page
 * has a Content-Length. An error before the second chunk is thrown and can still be answered. A later error aborts the
 * connection, so that the client does not take a part for the whole.
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
    return holdAnswer(exchange, STREAM_BYTES)
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

/**
 * Yields a chunk. The hold can be evicted while the gateway waits for the client, but not while it waits for the
 * service.
 */
function* taken(data: Buffer, held: Hold): Generator<Buffer> {
  held.touch()
  yield data
  held.pin()
}

/** Writes the head in one call, which is much faster in Node than setting headers one by one. */
function writeHead(exchange: Exchange, status: number, contentType?: string, length?: number): void {
  const raw = ['X-Request-Id', exchange.id, ...rawCommonHeaders]
  if (contentType !== undefined) raw.push('Content-Type', contentType)
  for (const [name, value] of corsHeaders(exchange)) raw.push(name, value)
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
