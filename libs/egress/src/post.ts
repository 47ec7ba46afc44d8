import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type AddressPolicy, checkHost, resolveHost } from './checked-host.ts'

/** A request to a server that a customer chose. */
export type PostRequest = {
  url: URL
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Cancels the request, besides the timeout. */
  signal?: AbortSignal
}

/** The answer to a request, redirects included: they are not followed. */
export type PostResponse = {
  status: number
  headers: Record<string, string>
  /** The start of the body, read as UTF-8. */
  body: string
}

/** Sends POST requests to servers that customers chose. */
export type Poster = {
  /**
   * Sends one request. Connects only to addresses that the policy allows.
   * @throws {UnsafeHost} if the host has an address that is not allowed
   * @throws the error of the connection, or a TimeoutError
   */
  post(request: PostRequest): Promise<PostResponse>
  /** Closes idle connections. */
  close(): void
}

/** Options of `createPoster`. */
export type PosterOptions = {
  policy: AddressPolicy
  /** Time from the look-up of the name to the end of the answer. */
  timeoutMs: number
  /** Bytes of a body that are read; the rest is cut off. */
  maxBodyBytes: number
  /** URL of an HTTP proxy that all requests go through: those to https in a tunnel (CONNECT). */
  proxy?: string | undefined
}

const MAX_HEADER_BYTES = 16 * 1024
const IDLE_SOCKETS = 256
const IDLE_MS = 10_000

/**
 * Creates a poster. The name of a host is resolved and checked before each new connection, and the connection is made
 * to the addresses that were checked. Node does not look up literal addresses, so these are checked as well. A proxy
 * resolves the name again and has to check the addresses itself; names that do not resolve here are left to it.
 */
export function createPoster({ policy, timeoutMs, maxBodyBytes, proxy }: PosterOptions): Poster {
  const pool = { keepAlive: true, maxFreeSockets: IDLE_SOCKETS, timeout: IDLE_MS, scheduling: 'lifo' } as const
  const options = { ...pool, ...(proxy && { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }) }
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) }

  const post: Poster['post'] = async ({ url, headers, body, signal }) => {
    const deadline = AbortSignal.timeout(timeoutMs)
    const direct = proxy ? await checkHost(url.hostname, policy) : await resolveHost(url.hostname, policy)
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    const aborted = signal ? AbortSignal.any([deadline, signal]) : deadline
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': body.length },
        agent: agents[url.protocol as keyof typeof agents],
        ...(direct && { lookup: lookupOf(direct.addresses) }),
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: aborted,
      })
      const fail = (error: unknown) => reject(deadline.aborted ? deadline.reason : error)
      sent.on('error', fail)
      sent.on('response', response => {
        readStart(response, maxBodyBytes).then(
          text => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: text }),
          fail,
        )
      })
      sent.end(body)
    })
  }

  return {
    post,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** Returns a look-up that finds the given addresses. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map(address => ({ address, family: isIP(address) }))
  return (_name, { all }, callback) => {
    if (all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  }
}

/** Reads the start of a body and destroys the connection if there is more. */
async function readStart(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxBytes) break // which destroys the response
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8')
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}
