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
/** After `authenticate`: the caller is known. */
export type Authenticated = Counted & { caller: Caller }
/** After the guard: the route exists, and the caller may use it. */
export type Authorized = Authenticated & { match: Match }
/** After `readBody`. */
export type Received = Authorized & { body: Body }
/** After the strict check. */
export type Checked = Received & { message: Message }

/** The parsed body of a request; undefined where it has none. */
export type Body = { value: unknown }
/** A checked request as its rpc takes it. */
export type Message = Record<string, unknown>

/** How long a refused client may go on sending; at once, it would miss the answer. */
const lingerMs = 3_000
const saneRequestId = /^[\w.:=+/-]{1,128}$/

/**
 * One request on its way through the gateway, and its answer. Each step adds what it finds out to the same object, and
 * answers it under the next of the types above. Read here, a field may still be unset.
 */
export class Exchange {
  readonly request: Request
  readonly response: Response
  readonly startedAt = performance.now()
  /** Taken from the client where it is sane. */
  readonly id: string
  /** Address of the client, IPv4-mapped ones as IPv4; '' where the connection is gone. */
  readonly ip: string
  /** The path, and the query without its question mark. */
  readonly path: string
  readonly query: string
  /** Route and path variables; undefined where no route answers. */
  readonly match: Match | undefined
  readonly bounds: Bounds
  /** When the client gets 503 at the latest, in milliseconds since the epoch. */
  deadline: number
  /** Id of the trace it is recorded in; zeros where it is not. */
  traceId = ''
  /** Kind of the credential, for the log. */
  credential: Credential['kind'] = 'none'
  claim: Claim | undefined
  caller: Caller | undefined
  body: Body | undefined
  message: Message | undefined
  /** How much of its limits the client has used up; part of every answer. */
  limitHeaders: readonly Header[] | undefined
  /** Additional headers of the answer. */
  headers: Header[] = []
  /** Why it was refused. */
  failure: AppError | undefined
  #abort: AbortController | undefined
  #atEnd: (() => void)[] | undefined = []

  constructor(
    request: Request,
    response: Response,
    match: (verb: string, path: string) => Match | undefined,
    { deadlineMs, bounds }: { deadlineMs: number; bounds: Bounds },
  ) {
    this.request = request
    this.response = response
    const given = request.headers['x-request-id']
    this.id = typeof given === 'string' && saneRequestId.test(given) ? given : randomUUID()
    this.ip = clientAddress(request)
    const [path, query] = splitTarget(request.url)
    this.path = path
    this.query = query
    this.match = match(request.method, path)
    this.bounds = bounds
    this.deadline = Date.now() + deadlineMs
  }

  /** The trace that the client wants it to belong to. */
  get trace(): TraceCarrier {
    const { traceparent, tracestate } = this.request.headers
    if (typeof traceparent !== 'string') return {}
    return { traceparent, ...(typeof tracestate === 'string' && { tracestate }) }
  }

  /** The client went away before its answer was whole. */
  get isAborted(): boolean {
    return this.response.closed && !this.response.writableFinished
  }

  /** Fires when the client goes away. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (this.isAborted) this.#abort.abort()
    }
    return this.#abort.signal
  }

  /** Opens a hold on a budget, for the client's address, until the exchange ends. */
  hold(budget: Budget, evict: () => void): Hold {
    const hold = budget.hold(limitKey(this.ip), evict)
    this.atEnd(hold.release)
    return hold
  }

  /** Has something done when the exchange ends, however it does; at once where it has ended. */
  atEnd(action: () => void): void {
    if (this.#atEnd) this.#atEnd.push(action)
    else action()
  }

  /** Ends the connection after this answer: a client that is too slow would only go on. */
  refuseConnection(): void {
    this.response.shouldKeepAlive = false
  }

  /** To be called when the response closes. The rest of a body that nobody read is thrown away, but not for ever. */
  close(): void {
    for (const action of this.#atEnd ?? []) action()
    this.#atEnd = undefined
    if (this.isAborted) this.#abort?.abort()
    else if (!this.request.complete) setTimeout(() => this.#hangUp(), lingerMs).unref()
  }

  #hangUp(): void {
    if (!this.request.complete) this.request.destroy()
  }
}

/** With no proxy between, the peer; what a proxy says that is no address is worth no more than the proxy's own. */
function clientAddress(request: Request): string {
  const peer = request.socket.remoteAddress ?? ''
  const forwarded = request.headers['x-forwarded-for'] === undefined ? peer : (request.ip ?? peer)
  return normalizeAddress(forwarded) ?? normalizeAddress(peer) ?? ''
}

/** Splits a request target; one in absolute form loses its scheme and host. */
function splitTarget(target: string): [path: string, query: string] {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
  const mark = local.indexOf('?')
  return mark === -1 ? [local, ''] : [local.slice(0, mark), local.slice(mark + 1)]
}
