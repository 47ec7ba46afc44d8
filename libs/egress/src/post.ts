import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https'
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
   * @throws the error of the connection, a TimeoutError, or the reason of the signal
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
  const httpsAgent = proxy ? tunnelAgent(options, timeoutMs) : new HttpsAgent(options)
  const agents = { 'http:': new HttpAgent(options), 'https:': httpsAgent }

  const post: Poster['post'] = async ({ url, headers, body, signal }) => {
    const deadline = AbortSignal.timeout(timeoutMs)
    const direct = proxy ? await checkHost(url.hostname, policy) : await resolveHost(url.hostname, policy)
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    const aborted = signal ? AbortSignal.any([deadline, signal]) : deadline
    aborted.throwIfAborted()
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      agent: agents[url.protocol as keyof typeof agents],
      ...(direct && { lookup: lookupOf(direct.addresses) }),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal: aborted,
    })
    sent.end(body)
    return answerTo(sent, aborted, maxBodyBytes)
  }

  return {
    post,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/**
 * Creates an agent for requests through a proxy. It closes tunnels that the proxy refuses, and those that are not there in
 * time: Node leaves the former open and waits for the latter without a limit.
 */
function tunnelAgent(options: AgentOptions, timeoutMs: number): HttpsAgent {
  const agent = new HttpsAgent(options)
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (request, callback) => {
    const socket = connect(request, (error, tunnel) => {
      clearTimeout(timer)
      if (error) socket?.destroy()
      callback?.(error, tunnel)
    })
    const timer = setTimeout(() => socket?.destroy(), timeoutMs)
    return socket
  }
  return agent
}

/** Resolves to the answer to a request. Rejects when the signal is aborted, whatever the request does. */
function answerTo(sent: ClientRequest, signal: AbortSignal, maxBodyBytes: number): Promise<PostResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<PostResponse>()
  const fail = (error: unknown) => reject(signal.aborted ? signal.reason : error)
  const closed = () => fail(new Error('closed without an answer'))
  const answer = (response: IncomingMessage, body: string) =>
    resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body })
  signal.addEventListener('abort', fail) // a request that waits for its tunnel reports none
  sent.on('error', fail)
  sent.on('close', closed)
  sent.on('response', response => {
    sent.off('close', closed)
    readStart(response, maxBodyBytes).then(body => answer(response, body), fail)
  })
  // 101, which has no body. Without a listener, Node closes the connection and reports nothing.
  sent.on('upgrade', (response, socket) => {
    socket.destroy()
    answer(response, '')
  })
  return promise.finally(() => signal.removeEventListener('abort', fail))
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
