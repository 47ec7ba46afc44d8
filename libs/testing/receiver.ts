import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that a receiver got. */
export type ReceivedRequest = { path: string; headers: IncomingHttpHeaders; body: string }

/** How a receiver answers: a status, with headers and a body if needed; `hang` for no answer. */
export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: string } | 'hang'

/** An HTTP server that records what it gets. */
export type Receiver = {
  url: string
  requests: ReceivedRequest[]
  /** Sets how it answers from now on. Default: 204. */
  answer(answer: ReceiverAnswer | ((request: ReceivedRequest) => ReceiverAnswer)): void
  stop(): Promise<void>
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  let answerOf: (request: ReceivedRequest) => ReceiverAnswer = () => ({ status: 204 })
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const received = { path: request.url ?? '', headers: request.headers, body }
    requests.push(received)
    const answer = answerOf(received)
    if (answer !== 'hang') response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer(answer) {
      answerOf = typeof answer === 'function' ? answer : () => answer
    },
    stop: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
