import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError, compileMatcher, generateOpenApi } from '@rollcall/contract'
import { failSpan, isTracing, traced } from '@rollcall/runtime'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import { accessLog } from './access-log.ts'
import { authentication } from './authenticate.ts'
import { guard } from './authorize.ts'
import type { Context } from './context.ts'
import { Exchange } from './exchange.ts'
import { answerProblem } from './problem.ts'
import { rateLimits } from './rate-limit.ts'
import { connectAccount } from './routes/connect-account.ts'
import { reference } from './routes/reference.ts'
import { startSteps } from './steps.ts'
import { readBody, strictCheck, transcode } from './transcode.ts'

const apiVersion = '1.0.0'

/**
 * Returns the gateway as a request listener. A request becomes an exchange, with its request id, and goes through the
 * steps in this order; the first that throws ends it with the problem it threw. The routes are data, found by one
 * middleware: a request costs the same however many there are.
 *
 * Express is a shell for that one handler. It knows whom to believe about the client behind proxies, and serves the pages.
 */
export function createApp(context: Context): (request: IncomingMessage, response: ServerResponse) => void {
  const credential = authentication({
    ...context,
    identity: context.backends.client('rollcall.identity.v1.Credentials'),
  })
  const limits = rateLimits({ ...context, prefix: context.limitPrefix })
  const steps = startSteps()
    .step(credential.prefetchCredential) // does not wait for the cache: its request goes out with that of the limits
    .step(limits.count)
    .check(requireHost)
    .step(credential.authenticate)
    .step(guard)
    .check(context.tokenUsage.note)
    .step(readBody(context.deadlineMs))
    .step(strictCheck)
    .check(transcode(context))
  const log = accessLog(context.accessLogger, context.metrics)
  const match = compileMatcher(context.routes)

  const begin = (request: Request, response: Response): Exchange => {
    const exchange = new Exchange(request, response, match, context)
    response.locals.exchange = exchange
    if (context.isDraining()) response.shouldKeepAlive = false
    log(exchange)
    return exchange
  }
  const follow = async (exchange: Exchange): Promise<void> => {
    try {
      await steps.run(exchange)
    } catch (thrown) {
      answerProblem(exchange, thrown, context.logger)
    }
  }

  const run = (exchange: Exchange): Promise<void> => (isTracing() ? inSpan(exchange, follow) : follow(exchange))

  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', context.trustProxy)
  app.use((request, response, next) => {
    const exchange = begin(request, response)
    if (exchange.path.startsWith('/api/')) return void run(exchange)
    response.setHeader('X-Request-Id', exchange.id)
    next()
  })
  app.use(reference(generateOpenApi(context.routes, apiVersion), limits.countReference))
  app.use(connectAccount(limits.countReference))
  app.use((_request, response) => run(response.locals.exchange))
  app.use(((error, _request, response, _next) => {
    answerProblem(response.locals.exchange, error, context.logger)
  }) satisfies ErrorRequestHandler)

  return (request, response) => {
    // Express comes to its end by itself only for a target that it cannot read.
    app(request as Request, response as Response, () => {
      const exchange = begin(request as Request, response as Response)
      answerProblem(exchange, new AppError('request.malformed_target'), context.logger)
    })
  }
}

function inSpan(exchange: Exchange, follow: (exchange: Exchange) => Promise<void>): Promise<void> {
  return traced(spanName(exchange), { kind: 'server', from: exchange.trace }, async span => {
    exchange.traceId = span.spanContext().traceId
    await follow(exchange)
    const { statusCode } = exchange.response
    span.setAttribute('http.response.status_code', statusCode)
    if (statusCode >= 500) failSpan(span, exchange.failure)
  })
}

/** Method and pattern of the route; a path of the client's would be a name without end. */
function spanName({ request, match }: Exchange): string {
  return `${request.method} ${match?.route.path ?? '(none)'}`
}

/** RFC 9112, 3.2. Node would refuse as well, but without a body. */
function requireHost({ request }: Exchange): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new AppError('request.host_missing')
  }
}
