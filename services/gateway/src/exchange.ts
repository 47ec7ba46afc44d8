import { randomUUID } from 'node:crypto'
import type { AppError, Match } from '@rollcall/contract'
import type { Credential } from '@rollcall/credentials'
import type { Caller } from '@rollcall/rpc'
import type { Budget, Hold, TraceCarrier } from '@rollcall/runtime'
import type { Request, Response } from 'express'
import { limitKey, normalizeAddress } from './address.ts'
import type { Bounds } from './bounds.ts'
import type { Claim } from './claim.ts'

/** A header field of an answer. */
export type Header = readonly [name: string, value: string]

/** After `prefetchCredential`. */
export type Claimed = Exchange & { claim: Claim }
/** After the rate limits. */
export type Counted = Claimed & { limitHeaders: readonly Header[] }
/** After `authenticate`. */
export type Authenticated = Counted & { caller: Caller }
/** After the guard: the route exists, and the caller has its permission. */
export type Authorized = Authenticated & { match: Match }
/** After `readBody`. */
export type Received = Authorized & { body: Body }
/** After the strict check. */
export type Checked = Received & { message: Message }

/** The parsed body of a request; undefined if it has none. */
export type Body = { value: unknown }
/** A checked request, as its rpc accepts it. */
export type Message = Record<string, unknown>

/** How long a refused client may keep sending. If closed at once, it would miss the answer. */
const LINGER_MS = 3_000
const VALID_REQUEST_ID = /^[\w.:=+/-]{1,128}$/

/**
 * One request and its answer. Each step adds its result to the same object, and returns it as the next of the types
 * above. Fields of this class may still be unset.
 */
export class Exchange {
  readonly request: Request
  readonly response: Response
  readonly startedAt = performance.now()
  /** Request id: the client's if it is valid, else a new one. */
  readonly id: string
  /** Normalized address of the client; '' if the connection is closed. */
  readonly ip: string
  /** The path, and the query without its question mark. */
  readonly path: string
  readonly query: string
  /** Route and path variables; undefined if no route matches. */
  readonly match: Match | undefined
  readonly bounds: Bounds
  /** Origins of consoles, which may use the session cookie. */
  readonly consoleOrigins: ReadonlySet<string>
  /** When the client gets 503, in milliseconds since the epoch. */
  deadline: number
  /** Trace id; zeros if not recorded. */
  traceId = ''
  /** Kind of the credential, for the log. */
  credential: Credential['kind'] = 'none'
  claim: Claim | undefined
  caller: Caller | undefined
  body: Body | undefined
  message: Message | undefined
  /** Origins of web pages that the credential's organization allows; undefined until it is resolved. */
  allowedOrigins: readonly string[] | undefined
  /** Headers of the rate limits, part of every answer. */
  limitHeaders: readonly Header[] | undefined
  /** Additional headers of the answer. */
  headers: Header[] = []
  /** Error that it was answered with. */
  failure: AppError | undefined
  #abort: AbortController | undefined
  #atEnd: (() => void)[] | undefined = []

  constructor(
    request: Request,
    response: Response,
    match: (verb: string, path: string) => Match | undefined,
    { deadlineMs, bounds, consoleOrigins }: { deadlineMs: number; bounds: Bounds; consoleOrigins: ReadonlySet<string> },
  ) {
    this.request = request
    this.response = response
    const given = request.headers['x-request-id']
    this.id = typeof given === 'string' && VALID_REQUEST_ID.test(given) ? given : randomUUID()
    this.ip = clientAddress(request)
    const [path, query] = splitTarget(request.url)
    this.path = path
    this.query = query
    this.match = match(request.method, path)
    this.bounds = bounds
    this.consoleOrigins = consoleOrigins
    this.deadline = Date.now() + deadlineMs
  }

  /** Trace context that the client sent. */
  get trace(): TraceCarrier {
    const { traceparent, tracestate } = this.request.headers
    if (typeof traceparent !== 'string') return {}
    return { traceparent, ...(typeof tracestate === 'string' && { tracestate }) }
  }

  /** Whether the client left before its answer was complete. */
  get isAborted(): boolean {
    return this.response.closed && !this.response.writableFinished
  }

  /** Aborts when the client leaves. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (this.isAborted) this.#abort.abort()
    }
    return this.#abort.signal
  }

  /** Opens a hold on a budget for the client's address, until the exchange ends. */
  hold(budget: Budget, evict: () => void): Hold {
    const hold = budget.hold(limitKey(this.ip), evict)
    this.atEnd(hold.release)
    return hold
  }

  /** Runs an action when the exchange ends, in whichever way; at once if it has ended. */
  atEnd(action: () => void): void {
    if (this.#atEnd) this.#atEnd.push(action)
    else action()
  }

  /** Closes the connection after this answer. */
  refuseConnection(): void {
    this.response.shouldKeepAlive = false
  }

  /** Call it when the response closes. Discards the rest of an unread body, for a limited time. */
  close(): void {
    for (const action of this.#atEnd ?? []) action()
    this.#atEnd = undefined
    if (this.isAborted) this.#abort?.abort()
    else if (!this.request.complete) setTimeout(() => this.#hangUp(), LINGER_MS).unref()
  }

  #hangUp(): void {
    if (!this.request.complete) this.request.destroy()
  }
}

/** Returns the address that a trusted proxy forwarded if it is valid, else the address of the peer. */
function clientAddress(request: Request): string {
  const peer = request.socket.remoteAddress ?? ''
  const forwarded = request.headers['x-forwarded-for'] === undefined ? peer : (request.ip ?? peer)
  return normalizeAddress(forwarded) ?? normalizeAddress(peer) ?? ''
}

/** Splits a request target. Drops scheme and host of the absolute form. */
function splitTarget(target: string): [path: string, query: string] {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
  const mark = local.indexOf('?')
  return mark === -1 ? [local, ''] : [local.slice(0, mark), local.slice(mark + 1)]
}
