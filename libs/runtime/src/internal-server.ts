import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Health } from './health.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'

/** Options of `startInternalServer`. With `port` 0 the system chooses one. */
export type InternalServerOptions = { port: number; host?: string; health: Health; metrics: Metrics; logger: Logger }

/**
 * Starts the server for the orchestrator and the metrics collector, on its own port: `GET /health/live` (200 while the
 * event loop runs), `/health/ready` (200, or 503 with the failing checks) and `/metrics`.
 */
export async function startInternalServer(
  options: InternalServerOptions,
): Promise<{ port: number; stop(): Promise<void> }> {
  const { health, metrics, logger, host = '127.0.0.1' } = options

  const answers: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/health/live': async response => sendJson(response, 200, health.live()),
    '/health/ready': async response => {
      const readiness = await health.ready()
      sendJson(response, readiness.ok ? 200 : 503, readiness)
    },
    '/metrics': async response => {
      const text = await metrics.registry.metrics()
      response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text)
    },
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const answer = request.method === 'GET' && Object.hasOwn(answers, path) ? answers[path] : undefined
    if (!answer) return sendJson(response, 404, { ok: false })
    answer(response).catch(err => {
      logger.error({ err, path }, 'internal request failed')
      if (!response.headersSent) sendJson(response, 500, { ok: false })
    })
  })
  server.listen(options.port, host)
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
