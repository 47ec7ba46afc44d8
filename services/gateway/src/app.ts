import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError, compileMatcher, generateOpenApi, readExamples } from '@rollcall/contract'
import { failSpan, isTracing, traced } from '@rollcall/runtime'
import express, { type ErrorRequestHandler, type Request, type Response } from 'express'
import { accessLog } from './access-log.ts'
import { answerEmpty } from './answer.ts'
import { authentication } from './authenticate.ts'
import { guard } from './authorize.ts'
import type { Context } from './context.ts'
import { preflightHeaders } from './cors.ts'
import { type Authorized, Exchange } from './exchange.ts'
import { answerProblem } from './problem.ts'
import { publicPages } from './public-pages.ts'
import { rateLimits } from './rate-limit.ts'
import { connectAccount } from './routes/connect-account.ts'
import { consolePages } from './routes/console.ts'
import { reference } from './routes/reference.ts'
import { startSteps } from './steps.ts'
import { readBody, strictCheck, transcode } from './transcode.ts'

const API_VERSION = '1.0.0'

/**
 * Returns the gateway as a request listener. Each request becomes an exchange and passes the steps in this order.
 * The first error that a step throws is the answer. Routes are data: one matcher finds them, so that their number does
 * not affect the cost of a request.
 *
 * Express wraps this handler. It determines the client's address behind proxies, and serves the pages. What no file
 * answers outside /api is a public page of a service, or unknown.
 */
export function createApp(context: Context): (request: IncomingMessage, response: ServerResponse) => void {
  const credential = authentication({
    ...context,
    identity: context.backends.client('rollcall.identity.v1.Credentials'),
  })
  const origins = context.backends.client('rollcall.identity.v1.Origins')
  const forms = context.backends.client('rollcall.content.v1.Forms')
  const limits = rateLimits({ ...context, prefix: context.limitPrefix })
  const authorizeAgain = async (exchange: Authorized): Promise<void> => {
    exchange.deadline = Date.now() + context.deadlineMs
    credential.prefetchCredential(exchange)
    guard(await credential.authenticate(exchange))
  }
  const steps = startSteps()
    .step(credential.prefetchCredential) // does not await the cache, so that its query shares a write with the limits
    .step(limits.count)
    .check(requireHost)
    .step(credential.authenticate)
    .step(guard)
    .check(context.tokenUsage.note)
    .step(readBody(authorizeAgain))
    .step(strictCheck)
    .check(transcode({ ...context, authorizeAgain }))
  const log = accessLog(context.accessLogger, context.metrics)
  const match = compileMatcher([...context.routes, ...context.pages])
  const answerPublicPage = publicPages({ ...context, forms, limits })

  const begin = (request: Request, response: Response): Exchange => {
    const exchange = new Exchange(request, response, match, context)
    response.locals.exchange = exchange
    if (context.isDraining()) response.shouldKeepAlive = false
    log(exchange)
    return exchange
  }
  const runSteps = async (exchange: Exchange): Promise<void> => {
    try {
      await steps.run(exchange)
    } catch (thrown) {
      await credential.recallOrigins(exchange)
      answerProblem(exchange, thrown, context.logger)
    }
  }
  const answerPreflight = async (exchange: Exchange): Promise<void> => {
    try {
      await limits.countPreflight(exchange)
      const method = exchange.request.headers['access-control-request-method'] ?? ''
      const requested = match(method, exchange.path)
      exchange.headers.push(...(await preflightHeaders(exchange, requested, { origins, forms })))
      answerEmpty(exchange)
    } catch (thrown) {
      answerProblem(exchange, thrown, context.logger)
    }
  }

  /** Runs a handler. If it fails although it answers its errors, only this request ends. */
  const handled = (handle: (exchange: Exchange) => Promise<void>) => (exchange: Exchange) => {
    const handling = isTracing() ? inSpan(exchange, handle) : handle(exchange)
    handling.catch(err => {
      exchange.response.destroy()
      context.logger.error({ requestId: exchange.id, err }, 'request failed without an answer')
    })
  }
  const run = handled(runSteps)
  const runPage = handled(answerPublicPage)
  const runPreflight = handled(answerPreflight)

  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', context.trustProxy)
  app.use((request, response, next) => {
    const exchange = begin(request, response)
    const isApi = /^\/api(\/|$)/.test(exchange.path) && exchange.match?.route.via !== 'page'
    if (isApi && request.method === 'OPTIONS') return runPreflight(exchange)
    if (isApi) return run(exchange)
    if (exchange.match) return runPage(exchange)
    response.setHeader('X-Request-Id', exchange.id)
    next()
  })
  app.use(reference(() => generateOpenApi(context.routes, API_VERSION, readExamples()), limits.countReference))
  app.use(connectAccount(limits.countReference))
  if (context.consoleDir) app.use(consolePages(context.consoleDir))
  app.use((_request, response) => runPage(response.locals.exchange))
  app.use(((error, _request, response, _next) => {
    answerProblem(response.locals.exchange, error, context.logger)
  }) satisfies ErrorRequestHandler)

  return (request, response) => {
    // Express calls this only for a request target that it cannot parse.
    app(request as Request, response as Response, () => {
      const exchange = begin(request as Request, response as Response)
      answerProblem(exchange, new AppError('request.malformed_target'), context.logger)
    })
  }
}

function inSpan(exchange: Exchange, runSteps: (exchange: Exchange) => Promise<void>): Promise<void> {
  return traced(spanName(exchange), { kind: 'server', from: exchange.trace }, async span => {
    exchange.traceId = span.spanContext().traceId
    await runSteps(exchange)
    const { statusCode } = exchange.response
    span.setAttribute('http.response.status_code', statusCode)
    if (statusCode >= 500) failSpan(span, exchange.failure)
  })
}

/** Returns method and route pattern. Paths as sent would give an unlimited number of names. */
function spanName({ request, match }: Exchange): string {
  return `${request.method} ${match?.route.path ?? '(none)'}`
}

/** Requires a Host header (RFC 9112, 3.2). Node would refuse without a body. */
function requireHost({ request }: Exchange): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    throw new AppError('request.host_missing')
  }
}
