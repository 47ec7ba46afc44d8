import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createTally } from '@rollcall/runtime'
import { limitKey, normalizeAddress } from './address.ts'
import { answerUnreadable } from './problem.ts'
import type { Watch } from './watch.ts'

/** Room for the longest filter with every character percent-encoded, and for cookies. */
const MAX_HEAD_BYTES = 64 * 1024
/** Longer than load balancers keep idle connections, so that the gateway does not close one as a request arrives. */
const KEEP_ALIVE_MS = 65_000
const SWEEP_MS = 50
/** How long a stop waits for the rest of a connection's first request. */
const FIRST_REQUEST_GRACE_MS = 1_000
/** Maximum interval at which Node checks for requests that take too long to arrive. */
const MAX_CHECK_INTERVAL_MS = 1_000
const CHECKS_PER_TIMEOUT = 10
/** Maximum requests of a connection that wait for earlier answers. */
const MAX_PIPELINED = 256

/** Handles one request; see `createApp`. */
type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Settings of the server. Times are in milliseconds. */
export type ServerOptions = {
  port: number
  host: string
  /** Time for the head of a request to arrive. */
  headTimeoutMs: number
  /** Time for a whole request to arrive, including an upload. */
  requestTimeoutMs: number
  maxConnections: number
  maxConnectionsPerAddress: number
  /** Whether an address is that of a proxy, which connects for many clients. */
  isProxy(address: string): boolean
  watch: Watch
}

/** An open connection. */
type Connection = {
  /** Its latest exchange; undefined before the first. */
  latest: { request: IncomingMessage; response: ServerResponse } | undefined
  /** Number of requests that wait for earlier answers. */
  waiting: number
}
/** Ordered by their latest request, the oldest first. */
type Connections = Map<Socket, Connection>

/** Serves a listener over HTTP. Requests of one connection run one after the other. */
export async function startServer(
  listener: Listener,
  options: ServerOptions,
): Promise<{ port: number; stop(late: AbortSignal): Promise<void> }> {
  const connections: Connections = new Map()
  const admit = admission(connections, options)
  const serve = inOrder(listener, connections)
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: options.headTimeoutMs,
    requestTimeout: Math.max(options.requestTimeoutMs, options.headTimeoutMs),
    connectionsCheckingInterval: Math.ceil(Math.min(MAX_CHECK_INTERVAL_MS, options.headTimeoutMs / CHECKS_PER_TIMEOUT)),
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
  server.on('checkExpectation', serve) // Ignores an unknown Expect header.
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // A client that has sent nothing gets no answer: thousands can time out at once.
    if (socket.bytesRead === 0) socket.destroy()
    else answerUnreadable(socket, error.code, connections.get(socket)?.latest)
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: late => stopServer(server, connections, late) }
}

/** Cuts off a client that reads nothing of its answer. */
function watchReader(socket: Socket, watch: Watch): () => void {
  return watch.add({
    progress: () => (socket.writableLength === 0 ? undefined : socket.bytesWritten - socket.writableLength),
    atLeast: 1,
    cut: () => socket.destroy(),
  })
}

/** Returns a listener that starts a pipelined request once the earlier answers of its connection are written. */
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
    if (++connection.waiting > MAX_PIPELINED) return void socket.destroy()
    previous.once('close', () => {
      connection.waiting--
      if (!socket.destroyed) listener(request, response)
    })
  }
}

/**
 * Returns whether to admit a connection. Refuses new ones of an address at its limit; at the total limit, closes the
 * longest idle.
 */
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

/**
 * Drains the server: accepts no connections, finishes answers in progress, and closes each connection once it is idle.
 * Closes all when `late` aborts.
 */
async function stopServer(server: Server, connections: Connections, late: AbortSignal): Promise<void> {
  const closed = once(server, 'close')
  const startedAt = performance.now()
  const sweep = () => {
    server.closeIdleConnections()
    // Node does not count connections without a request as idle.
    const isLate = performance.now() - startedAt > FIRST_REQUEST_GRACE_MS
    for (const [socket, { latest }] of connections) {
      if (!latest && (isLate || socket.bytesRead === 0)) socket.destroy()
    }
  }
  server.close()
  sweep()
  const sweeping = setInterval(sweep, SWEEP_MS)
  late.addEventListener('abort', () => server.closeAllConnections())
  await closed
  clearInterval(sweeping)
}
