import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { HttpBody } from '@rollcall/rpc'
import helmet from 'helmet'
import type { Exchange } from './exchange.ts'

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

/** Headers of every answer of the API: name, value, name, value. What it says is for the one who asked. */
export const commonHeaders: readonly string[] = [...securityHeaders, 'Cache-Control', 'no-store']

const shortBodyBytes = 16 * 1024

/** Answers with a whole body. */
export function answer(exchange: Exchange, status: number, { contentType, data }: HttpBody): void {
  head(exchange, status, contentType, ['Content-Length', String(data.length)])
  // Node joins head and body into one write if the body is a text; as Latin-1 its bytes stay what they are.
  if (data.length <= shortBodyBytes) exchange.response.end(data.toString('latin1'), 'latin1')
  else exchange.response.end(data)
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
  head(exchange, status, contentType, [])
  if (exchange.request.method === 'HEAD') {
    exchange.response.end()
    await chunks.return?.()
    return
  }
  await pipeline(bytesOf([data, second.value.data], chunks), exchange.response)
}

async function* bytesOf(held: readonly Buffer[], rest: AsyncIterator<HttpBody>): AsyncGenerator<Buffer> {
  try {
    yield* held
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value.data
  } finally {
    await rest.return?.()
  }
}

function head(exchange: Exchange, status: number, contentType: string, more: readonly string[]): void {
  const own = ['Content-Type', contentType, 'X-Request-Id', exchange.id]
  // All at once: Node takes a whole head much faster than one header after the other.
  exchange.response.writeHead(status, own.concat(commonHeaders, exchange.limitHeaders, exchange.headers, more))
}

function headersOf(
  middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void,
): string[] {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  middleware(request, response, () => {})
  return Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)])
}
