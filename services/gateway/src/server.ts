import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { answerUnreadable } from './problem.ts'

/** Room for the longest filter, every character of it percent-encoded, and for cookies. */
const maxHeadBytes = 64 * 1024
/** Longer than a load balancer keeps an idle connection, so that it is not the gateway who closes it under a request. */
const keepAliveMs = 65_000
const sweepMs = 50

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Serves a listener over HTTP. `requestTimeoutMs` is what a request may take to arrive whole. */
export async function startServer(
  listener: Listener,
  { port, host, requestTimeoutMs }: { port: number; host: string; requestTimeoutMs: number },
): Promise<{ port: number; stop(): Promise<void> }> {
  const current = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>()
  const serve: Listener = (request, response) => {
    current.set(request.socket, { request, response })
    listener(request, response)
  }
  const server = createServer({
    maxHeaderSize: maxHeadBytes,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    requireHostHeader: false,
  })
  server.on('request', serve)
  server.on('checkExpectation', serve) // An expectation nobody knows: the request is served without it.
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerUnreadable(socket, error.code, current.get(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, stop: () => stopServer(server) }
}

/** Takes no new connections, lets the answers under way finish, and closes each connection once it is idle. */
async function stopServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const sweep = setInterval(() => server.closeIdleConnections(), sweepMs)
  await closed
  clearInterval(sweep)
}
