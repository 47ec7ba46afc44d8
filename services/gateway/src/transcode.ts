import { parse } from 'node:querystring'
import { AppError, isRepeatable, type Route } from '@rollcall/contract'
import type { CallContext, HttpBody } from '@rollcall/rpc'
import { json } from '@rollcall/rpc'
import type { Redis } from 'ioredis'
import { answer, answerStream } from './answer.ts'
import type { Backends, Invoke } from './backends.ts'
import { readJson } from './body.ts'
import type { Exchange, Step } from './exchange.ts'
import { createIdempotency, type Idempotency } from './idempotency.ts'
import { forbidCaching, readOAuth } from './routes/oauth.ts'
import { clearSessionCookie, setSessionCookie } from './routes/session-cookie.ts'
import { receiveFile } from './routes/upload.ts'

/** Reads the body of a route that has one. The time it takes to arrive is the client's, not the service's. */
export function readBody(deadlineMs: number): Step {
  return exchange => {
    const { hasBody, via } = exchange.match!.route
    if (!hasBody || via === 'upload') return
    const read = via === 'oauth' ? readOAuth : readJson
    return read(exchange.request).then(body => {
      exchange.body = body
      exchange.deadline = Date.now() + deadlineMs
    })
  }
}

/** Holds the request against the contract: what passes is what the rpc takes, and nothing else. */
export function strictCheck(exchange: Exchange): void {
  const { route, params } = exchange.match!
  const { request, headers } = route.check({ params, query: parseQuery(exchange.query), body: exchange.body })
  exchange.message = request
  for (const [name, value] of Object.entries(headers)) exchange.headers.push(name, value)
}

function parseQuery(text: string): Record<string, unknown> {
  if (text.includes('%') && !isWellEscaped(text)) {
    throw new AppError('bad_request', { message: 'malformed percent-encoding in the query' })
  }
  return parse(text)
}

function isWellEscaped(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** What calling the rpcs takes. */
type TranscodeOptions = {
  routes: readonly Route[]
  backends: Backends
  uploadMaxBytes: number
  redis: Redis
  /** Start of the keys that answers are kept under for repetitions. */
  idempotencyPrefix: string
}

/** Calls the rpc behind each route, and answers with what it answers. */
export function transcode(options: TranscodeOptions): Step {
  const { routes, backends, redis, idempotencyPrefix: prefix, uploadMaxBytes } = options
  const idempotency = createIdempotency({ redis, prefix })
  const calls = new Map(
    routes.map(route => [route, callOf(route, backends.invoker(route), { idempotency, uploadMaxBytes })]),
  )
  return exchange => calls.get(exchange.match!.route)!(exchange)
}

type CallOptions = { idempotency: Idempotency; uploadMaxBytes: number }

function callOf(route: Route, invoke: Invoke, { idempotency, uploadMaxBytes }: CallOptions): Step {
  const { status, via, rpc, returns } = route
  const disposition = returns.download === undefined ? undefined : `attachment; filename="${returns.download}"`
  const announce = (exchange: Exchange) => {
    if (disposition !== undefined) exchange.headers.push('Content-Disposition', disposition)
  }
  if (route.streams) {
    return exchange => {
      const chunks = invoke(exchange.message, contextOf(exchange, route)) as AsyncIterable<HttpBody>
      announce(exchange)
      return answerStream(exchange, status, chunks)
    }
  }

  const isFinished = rpc.resolvedResponseType?.fullName === '.google.api.HttpBody'
  const call = async (exchange: Exchange, message: unknown = exchange.message): Promise<HttpBody> => {
    const answered = await invoke(message, contextOf(exchange, route))
    return isFinished ? (answered as HttpBody) : json(answered)
  }
  const deliver = (exchange: Exchange, body: HttpBody) => {
    announce(exchange)
    answer(exchange, status, body)
  }
  switch (via) {
    case 'upload':
      return async exchange => deliver(exchange, await call(exchange, await receiveFile(exchange, uploadMaxBytes)))
    case 'sign_in':
      return async exchange => {
        const signIn = await call(exchange)
        setSessionCookie(exchange, signIn)
        deliver(exchange, signIn)
      }
    case 'oauth':
    case 'oauth_registration':
      return async exchange => {
        const answered = await call(exchange)
        forbidCaching(exchange)
        return deliver(exchange, answered)
      }
    case 'sign_out':
      return async exchange => {
        const body = await call(exchange)
        clearSessionCookie(exchange)
        deliver(exchange, body)
      }
    case 'browser':
    case 'json':
      if (!isRepeatable(route)) return async exchange => deliver(exchange, await call(exchange))
      return async exchange => deliver(exchange, await idempotency.once(exchange, () => call(exchange)))
  }
}

/**
 * A stream has its own, longer time; rpc clients see to it that it begins within the usual one. What a client may want to
 * hear of again, by its Idempotency-Key, goes on when the client goes away.
 */
function contextOf({ caller, id, deadline, signal, request }: Exchange, { streams, via }: Route): CallContext {
  const context = { caller: caller!, requestId: id }
  if (streams || via === 'upload') return { ...context, signal }
  return request.headers['idempotency-key'] === undefined ? { ...context, deadline, signal } : { ...context, deadline }
}
