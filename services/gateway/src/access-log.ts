import { createLogger, isTracing, type Lifecycle, type Logger, type Metrics } from '@rollcall/runtime'
import { pino } from 'pino'
import type { Exchange } from './exchange.ts'

const BATCH_BYTES = 8 * 1024
const BATCH_MS = 250

/**
 * Creates the logger of the access log. It writes to standard output like the others, but in batches: one write per
 * request would be a good part of the cost of a request. After a crash, the last batch is missing.
 */
export function batchedLogger(level: string, { onStop }: Pick<Lifecycle, 'onStop'>, fd = 1): Logger {
  const destination = pino.destination({ fd, sync: false, minLength: BATCH_BYTES })
  const flushing = setInterval(() => destination.flush(), BATCH_MS).unref()
  onStop('access log', async () => {
    clearInterval(flushing)
    destination.flushSync()
  })
  return createLogger({ service: 'gateway', level, destination })
}

/**
 * Returns what logs and measures a request when its response closes. It logs the route instead of the path and query:
 * a path may hold a secret, and a query may hold search terms.
 */
export function accessLog(logger: Logger, metrics: Metrics): (exchange: Exchange) => void {
  const labels = ['method', 'route', 'status'] as const
  const total = metrics.counter({ name: 'rollcall_http_requests_total', help: 'HTTP requests answered', labels })
  const seconds = metrics.histogram({
    name: 'rollcall_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer, in seconds',
    labels,
  })
  return exchange => {
    exchange.response.on('close', () => {
      exchange.close()
      const { request, response, id: requestId, ip, failure, isAborted } = exchange
      const ms = performance.now() - exchange.startedAt
      // The client left before the answer began. Proxies log 499 in this case.
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

/** Returns the pattern of the route. Paths as sent would give the metric an unlimited number of labels. */
function routeOf({ match, request }: Exchange): string {
  return match?.route.path ?? request.route?.path ?? '(none)'
}
