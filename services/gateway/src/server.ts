import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { answerUnreadable } from './problem.ts'

/** Room for the longest filter, every character of it percent-encoded, and for cookies. */
const maxHeadBytes = 64 * 1024
/** Longer than a load balancer keeps an idle connection, so that it is not the gateway who closes it under a request. */
const keepAliveMs = 65_000
const sweepMs = 50
/** What a connection whose first request has begun to arrive is given to bring the rest, when a stop has begun. */
const patienceMs = 1_000

type Listener = (request: IncomingMessage, response: ServerResponse) => void
/** Open connections, each with its latest exchange; undefined where there was none yet. */
type Connections = Map<Socket, { request: IncomingMessage; response: ServerResponse } | undefined>

/** Serves a listener over HTTP. `requestTimeoutMs` is what a request may take to arrive whole. */
export async function startServer(
  listener: Listener,
  { port, host, requestTimeoutMs }: { port: number; host: string; requestTimeoutMs: number },
): Promise<{ port: number; stop(): Promise<void> }> {
  const connections: Connections = new Map()
  const serve: Listener = (request, response) => {
    connections.set(request.socket, { request, response })
    listener(request, response)
  }
  const server = createServer({
    maxHeaderSize: maxHeadBytes,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    requireHostHeader: false,
  })
  server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', serve)
  server.on('checkExpectation', serve) // An expectation nobody knows: the request is served without it.
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerUnreadable(socket, error.code, connections.get(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: () => stopServer(server, connections) }
}

/** Takes no new connections, lets the answers under way finish, and closes each connection once it is idle. */
async function stopServer(server: Server, connections: Connections): Promise<void> {
  const closed = once(server, 'close')
  const startedAt = performance.now()
  const sweep = () => {
    server.closeIdleConnections()
    // Node does not count those as idle that have never made a request.
    const isLate = performance.now() - startedAt > patienceMs
    for (const [socket, exchange] of connections) {
      if (!exchange && (isLate || socket.bytesRead === 0)) socket.destroy()
    }
  }
  server.close()
  sweep()
  const sweeping = setInterval(sweep, sweepMs)
  await closed
  clearInterval(sweeping)
}
