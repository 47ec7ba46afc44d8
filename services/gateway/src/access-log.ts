import { createLogger, isTracing, type Lifecycle, type Logger, type Metrics } from '@rollcall/runtime'
import { pino } from 'pino'
import type { Exchange } from './exchange.ts'

const batchBytes = 8 * 1024
const batchMs = 250

/**
 * The logger of the access log: to standard output like all others, but in batches. A line for every request, each
 * written by itself, would be a good part of what a request costs; of a crash, the last moments are missing here.
 */
export function batchedLogger(level: string, { onStop }: Pick<Lifecycle, 'onStop'>, fd = 1): Logger {
  const destination = pino.destination({ fd, sync: false, minLength: batchBytes })
  const flushing = setInterval(() => destination.flush(), batchMs).unref()
  onStop('access log', async () => {
    clearInterval(flushing)
    destination.flushSync()
  })
  return createLogger({ service: 'gateway', level, destination })
}

/**
 * Writes one line and two metrics for every request once its answer is out. The route stands for the path: a path may
 * hold a secret, and a query what people searched for.
 */
export function accessLog(logger: Logger, metrics: Metrics): (exchange: Exchange) => void {
  const labels = ['method', 'route', 'status'] as const
  const total = metrics.counter({ name: 'rollcall_http_requests_total', help: 'Requests answered', labels })
  const seconds = metrics.histogram({
    name: 'rollcall_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labels,
  })
  return exchange => {
    exchange.response.on('close', () => {
      exchange.close()
      const { request, response, id: requestId, ip, failure, isAborted } = exchange
      const ms = performance.now() - exchange.startedAt
      // A client that left before anything was answered has no status; 499 is what proxies log for it.
      const status = response.headersSent ? response.statusCode : 499
      const facts = { method: request.method, route: routeOf(exchange), status }
      total.inc(facts)
      seconds.observe(facts, ms / 1000)
      const line = {
        requestId,
        ...(isTracing() && { traceId: exchange.traceId }),
        ...facts,
        ms: Math.round(ms * 10) / 10,
        ip,
        auth: exchange.credential,
        org: exchange.caller?.organizationId,
        ...(isAborted && { isAborted }),
        ...(failure && { code: failure.code, reason: failure.message }),
      }
      logger.info(line, 'request')
    })
  }
}

/** Pattern of the route, of the contract or of the reference; client's own paths would be labels without end. */
function routeOf({ match, request }: Exchange): string {
  return match?.route.path ?? request.route?.path ?? '(none)'
}
