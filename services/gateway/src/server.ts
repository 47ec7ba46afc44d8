import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createTally } from '@rollcall/runtime'
import { limitKey, normalizeAddress } from './address.ts'
import { answerUnreadable } from './problem.ts'
import type { Watch } from './watch.ts'

/** Room for the longest filter, every character of it percent-encoded, and for cookies. */
const maxHeadBytes = 64 * 1024
/** Longer than a load balancer keeps an idle connection, so that it is not the gateway who closes it under a request. */
const keepAliveMs = 65_000
const sweepMs = 50
/** How long a stop waits for the rest of a connection's first request. */
const firstRequestGraceMs = 1_000
/** How often Node looks for requests that take too long to arrive. */
const longestCheckMs = 1_000
const checksPerTimeout = 10
/** Requests of a connection that wait for the answers before theirs. */
const maxPipelined = 256

/** Handles one request. The gateway's is `createApp`: one handler, with Express as a shell around it. */
type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** How the API is served; times in milliseconds. */
export type ServerOptions = {
  port: number
  host: string
  /** What the head of a request may take to arrive. */
  headTimeoutMs: number
  /** What a whole request may take to arrive, an upload included. */
  requestTimeoutMs: number
  maxConnections: number
  maxConnectionsPerAddress: number
  /** Whether an address is a proxy's, which connects for many clients. */
  isProxy(address: string): boolean
  watch: Watch
}

/** An open connection. */
type Connection = {
  /** Its latest exchange; undefined where there was none yet. */
  latest: { request: IncomingMessage; response: ServerResponse } | undefined
  /** Requests that wait for the answers before theirs. */
  waiting: number
}
/** By their latest request, the longest idle first. */
type Connections = Map<Socket, Connection>

/** Serves a listener over HTTP, one request of a connection after the other. */
export async function startServer(
  listener: Listener,
  options: ServerOptions,
): Promise<{ port: number; stop(): Promise<void> }> {
  const connections: Connections = new Map()
  const admit = admission(connections, options)
  const serve = inOrder(listener, connections)
  const server = createServer({
    maxHeaderSize: maxHeadBytes,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: options.headTimeoutMs,
    requestTimeout: Math.max(options.requestTimeoutMs, options.headTimeoutMs),
    connectionsCheckingInterval: Math.min(longestCheckMs, options.headTimeoutMs / checksPerTimeout),
    requireHostHeader: false,
  })
  server.on('connection', (socket: Socket) => {
    if (!admit(socket)) return
    connections.set(socket, { latest: undefined, waiting: 0 })
    const unwatch = watchReader(socket, options.watch)
    socket.once('close', () => {
      connections.delete(socket)
      unwatch()
    })
  })
  server.on('request', serve)
  server.on('checkExpectation', serve) // An expectation nobody knows: the request is served without it.
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // A client that has asked for nothing gets no answer: thousands can be due at once.
    if (socket.bytesRead === 0) socket.destroy()
    else answerUnreadable(socket, error.code, connections.get(socket)?.latest)
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: () => stopServer(server, connections) }
}

/** Cuts off a client that takes nothing of what is written to it. */
function watchReader(socket: Socket, watch: Watch): () => void {
  return watch.add({
    progress: () => (socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength),
    atLeast: 1,
    cut: () => socket.destroy(),
  })
}

/** Hands over a pipelined request once the answers before its own are written: a connection has one under way. */
function inOrder(listener: Listener, connections: Connections): Listener {
  return (request, response) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (!connection) return
    const previous = connection.latest?.response
    connection.latest = { request, response }
    connections.delete(socket)
    connections.set(socket, connection)
    if (!previous || previous.closed) return listener(request, response)
    if (++connection.waiting > maxPipelined) return void socket.destroy()
    previous.once('close', () => {
      connection.waiting--
      if (!socket.destroyed) listener(request, response)
    })
  }
}

/** Closes connections that are too many: new ones of an address that has enough, those idle longest of all. */
function admission(connections: Connections, options: ServerOptions): (socket: Socket) => boolean {
  const byAddress = createTally()
  return socket => {
    const address = normalizeAddress(socket.remoteAddress ?? '')
    if (address === undefined) return refuse(socket)
    if (!options.isProxy(address)) {
      const key = limitKey(address)
      socket.once('close', () => byAddress.add(key, -1))
      if (byAddress.add(key, 1) > options.maxConnectionsPerAddress) return refuse(socket)
    }
    return connections.size < options.maxConnections || closeIdlest(connections) || refuse(socket)
  }
}

function refuse(socket: Socket): false {
  socket.destroy()
  return false
}

function closeIdlest(connections: Connections): boolean {
  for (const [socket, { latest }] of connections) {
    if (latest && !latest.response.closed) continue
    connections.delete(socket)
    socket.destroy()
    return true
  }
  return false
}

/** Takes no new connections, lets the answers under way finish, and closes each connection once it is idle. */
async function stopServer(server: Server, connections: Connections): Promise<void> {
  const closed = once(server, 'close')
  const startedAt = performance.now()
  const sweep = () => {
    server.closeIdleConnections()
    // Node does not count those as idle that have never made a request.
    const isLate = performance.now() - startedAt > firstRequestGraceMs
    for (const [socket, { latest }] of connections) {
      if (!latest && (isLate || socket.bytesRead === 0)) socket.destroy()
    }
  }
  server.close()
  sweep()
  const sweeping = setInterval(sweep, sweepMs)
  await closed
  clearInterval(sweeping)
}
