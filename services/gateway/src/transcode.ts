import { parse } from 'node:querystring'
import { AppError, type Route } from '@rollcall/contract'
import type { CallContext, HttpBody } from '@rollcall/rpc'
import { json } from '@rollcall/rpc'
import { answer, answerStream } from './answer.ts'
import type { Backends, Invoke } from './backends.ts'
import { readJson } from './body.ts'
import type { Exchange, Step } from './exchange.ts'
import { clearSessionCookie, setSessionCookie } from './routes/session-cookie.ts'
import { receiveFile } from './routes/upload.ts'

/** Reads the JSON body of a route that has one. The time it takes to arrive is the client's, not the service's. */
export function readBody(deadlineMs: number): Step {
  return exchange => {
    const { hasBody, via } = exchange.match!.route
    if (!hasBody || via === 'upload') return
    return readJson(exchange.request).then(body => {
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

/** Calls the rpc behind each route, and answers with what it answers. */
export function transcode(options: { routes: readonly Route[]; backends: Backends; uploadMaxBytes: number }): Step {
  const calls = new Map(options.routes.map(route => [route, callOf(route, options.backends.invoker(route), options)]))
  return exchange => calls.get(exchange.match!.route)!(exchange)
}

function callOf(route: Route, invoke: Invoke, { uploadMaxBytes }: { uploadMaxBytes: number }): Step {
  const call = (exchange: Exchange, message: unknown = exchange.message) => invoke(message, contextOf(exchange, route))
  const deliver = deliveryOf(route)
  switch (route.via) {
    case 'upload':
      return async exchange => deliver(exchange, await call(exchange, await receiveFile(exchange, uploadMaxBytes)))
    case 'sign_in':
      return async exchange => {
        const signIn = (await call(exchange)) as HttpBody
        setSessionCookie(exchange, signIn)
        return deliver(exchange, signIn)
      }
    case 'sign_out':
      return async exchange => {
        const answered = await call(exchange)
        clearSessionCookie(exchange)
        return deliver(exchange, answered)
      }
    case 'json':
      if (route.streams) return exchange => deliver(exchange, call(exchange))
      return async exchange => deliver(exchange, await call(exchange))
  }
}

/** A stream has its own, longer time; rpc clients see to it that it begins within the usual one. */
function contextOf({ caller, id, deadline, signal }: Exchange, { streams, via }: Route): CallContext {
  const context = { caller: caller!, requestId: id, signal }
  return streams || via === 'upload' ? context : { ...context, deadline }
}

type Deliver = (exchange: Exchange, answered: unknown) => Promise<void> | void

/** How an rpc's answer is written: a stream as it comes, finished bytes as they are, a message as JSON. */
function deliveryOf(route: Route): Deliver {
  const { status, streams, returns, rpc } = route
  const isFinished = rpc.resolvedResponseType?.fullName === '.google.api.HttpBody'
  const write: Deliver = streams
    ? (exchange, answered) => answerStream(exchange, status, answered as AsyncIterable<HttpBody>)
    : (exchange, answered) => answer(exchange, status, isFinished ? (answered as HttpBody) : json(answered))
  if (returns.download === undefined) return write
  const disposition = `attachment; filename="${returns.download}"`
  return (exchange, answered) => {
    exchange.headers.push('Content-Disposition', disposition)
    return write(exchange, answered)
  }
}
