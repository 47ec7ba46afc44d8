import { parse } from 'node:querystring'
import { AppError, acceptsIdempotencyKey, type Carrier, type HttpBody, json, type Route } from '@rollcall/contract'
import type { CallContext } from '@rollcall/rpc'
import { answer, answerStream } from './answer.ts'
import type { Backends, Invoke } from './backends.ts'
import { readJson } from './body.ts'
import { noCache, readOAuth } from './carriers/oauth.ts'
import { createSessionCookie, type SessionCookie } from './carriers/session-cookie.ts'
import { uploadAttempt } from './carriers/upload.ts'
import type { Authorized, Body, Checked, Exchange, Received } from './exchange.ts'
import { attemptOf, createIdempotency, type Idempotency, type IdempotencyOptions } from './idempotency.ts'
import type { Step } from './steps.ts'
import type { StreamSlots } from './stream-slots.ts'

const noBody: Body = { value: undefined }

/** Authenticates and authorizes an exchange again, within a new deadline. */
export type AuthorizeAgain = (exchange: Authorized) => Promise<void>

/**
 * Returns the step that reads the body. The client chooses how long a body takes, so one that is incomplete at the guard
 * needs another authorization at its end. A body that comes with its head is complete, and needs none.
 */
export function readBody(authorizeAgain: AuthorizeAgain): Step<Authorized, Received> {
  const read = async (exchange: Authorized): Promise<Received> => {
    const isLate = !exchange.request.complete
    const value = await (exchange.match.route.carrier.body === 'form_or_json'
      ? readOAuth(exchange)
      : readJson(exchange))
    if (isLate) await authorizeAgain(exchange)
    return Object.assign(exchange, { body: { value } })
  }
  return exchange => {
    const { hasBody, carrier } = exchange.match.route
    return hasBody && carrier.body !== 'multipart' ? read(exchange) : Object.assign(exchange, { body: noBody })
  }
}

/** Checks the request against the contract, and builds the message of the rpc. */
export function strictCheck(exchange: Received): Checked {
  const { route, params } = exchange.match
  const { request, headers } = route.check({ params, query: parseQuery(exchange.query), body: exchange.body.value })
  exchange.headers.push(...Object.entries(headers))
  return Object.assign(exchange, { message: request })
}

function parseQuery(text: string): Record<string, unknown> {
  if (text.includes('%') && !isWellEscaped(text)) {
    throw new AppError('request.malformed_query')
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

/** What `transcode` needs. */
type TranscodeOptions = {
  routes: readonly Route[]
  backends: Backends
  authorizeAgain: AuthorizeAgain
  uploadMaxBytes: number
  streamSlots: StreamSlots
  keptAnswers: IdempotencyOptions
  publicUrl: string
}

/** Returns the step that calls the rpc of the route and answers with its response. */
export function transcode(options: TranscodeOptions): Step<Checked, void> {
  const { routes, backends } = options
  const idempotency = createIdempotency(options.keptAnswers)
  const sessionCookie = createSessionCookie(options.publicUrl)
  const callOptions = { ...options, idempotency, sessionCookie }
  const calls = new Map(routes.map(route => [route, callOf(route, backends.invoker(route), callOptions)]))
  return exchange => calls.get(exchange.match.route)!(exchange)
}

type CallOptions = { idempotency: Idempotency; sessionCookie: SessionCookie } & Pick<
  TranscodeOptions,
  'authorizeAgain' | 'uploadMaxBytes' | 'streamSlots'
>

function callOf(
  route: Route,
  invoke: Invoke,
  { idempotency, sessionCookie, authorizeAgain, uploadMaxBytes, streamSlots }: CallOptions,
): Step<Checked, void> {
  const { status, carrier, rpc, returns } = route
  const disposition = returns.download === undefined ? undefined : `attachment; filename="${returns.download}"`
  const announce = (exchange: Exchange) => {
    if (disposition !== undefined) exchange.headers.push(['Content-Disposition', disposition])
  }
  if (route.streams) {
    return async exchange => {
      if (isLong(exchange, route)) exchange.atEnd(await streamSlots.take(exchange.caller.organizationId))
      const chunks = invoke(exchange.message, contextOf(exchange, route)) as AsyncIterable<HttpBody>
      announce(exchange)
      await answerStream(exchange, status, chunks)
    }
  }

  const isFinished = rpc.resolvedResponseType?.fullName === '.google.api.HttpBody'
  const call = async (exchange: Checked, message: unknown = exchange.message): Promise<HttpBody> => {
    const answered = await invoke(message, contextOf(exchange, route))
    return isFinished ? (answered as HttpBody) : json(answered)
  }
  const perform = (exchange: Checked): Promise<HttpBody> => {
    if (carrier.body === 'multipart') {
      const isLate = !exchange.request.complete
      return idempotency.once(
        exchange,
        uploadAttempt(exchange, {
          maxBytes: uploadMaxBytes,
          send: file => call(exchange, file),
          atEnd: async () => {
            if (isLate) await authorizeAgain(exchange)
          },
        }),
      )
    }
    if (!acceptsIdempotencyKey(route)) return call(exchange)
    return idempotency.once(
      exchange,
      attemptOf(exchange, () => call(exchange)),
    )
  }
  const addHeaders = headersAdder(carrier, sessionCookie)
  return async exchange => {
    const body = await perform(exchange)
    addHeaders(exchange, body)
    announce(exchange)
    answer(exchange, statusOf(route, body), body)
  }
}

/** Returns the status of a success: 202 if the answer names a job that goes on. */
function statusOf({ status, returns: { accepted } }: Route, { data }: HttpBody): number {
  return accepted !== undefined && JSON.parse(data.toString())[accepted] !== undefined ? 202 : status
}

/** Returns what adds the headers of the route's carrier. */
function headersAdder({ answer }: Carrier, sessionCookie: SessionCookie): (exchange: Exchange, body: HttpBody) => void {
  switch (answer) {
    case 'set_session':
      return (exchange, signIn) => sessionCookie.set(exchange, signIn)
    case 'clear_session':
      return exchange => sessionCookie.clear(exchange)
    case 'uncached':
      return exchange => void exchange.headers.push(noCache)
    case 'redirect':
      return (exchange, body) =>
        void exchange.headers.push(['Location', (JSON.parse(body.data.toString()) as { url: string }).url])
    case 'plain':
      return () => {}
  }
}

/** Whether a stream has no limit on its records; a page has one. */
function isLong({ message }: Checked, { returns }: Route): boolean {
  const { list } = message as { list?: { pagination?: boolean } }
  return returns.pageOf === undefined || list?.pagination === false
}

/**
 * Returns the context of the call. Streams and uploads have longer deadlines of their own; the rpc client checks that
 * streams begin within the usual one. A call with an Idempotency-Key runs to its end even if the client leaves, since it
 * may be repeated.
 */
function contextOf({ caller, id, deadline, signal, request, bounds }: Checked, route: Route): CallContext {
  const isUpload = route.carrier.body === 'multipart'
  const runsToEnd = acceptsIdempotencyKey(route) && request.headers['idempotency-key'] !== undefined
  return {
    caller,
    requestId: id,
    ...(!route.streams && { deadline: isUpload ? Date.now() + bounds.uploadDeadlineMs : deadline }),
    ...(!runsToEnd && { signal }),
  }
}
