import type { PeerCertificate } from 'node:tls'
import {
  type Metadata,
  Server,
  type ServerErrorResponse,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedHandleCall,
} from '@grpc/grpc-js'
import { AppError, lowerFirst, type Route, toAppError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'
import {
  type Budget,
  createBudget,
  isTracing,
  type Logger,
  type Metrics,
  type TraceCarrier,
  traced,
} from '@rollcall/runtime'
import { HealthImplementation } from 'grpc-health-check'
import { type Assertion, createVerifier, type Verify } from './assertion.ts'
import type { Caller } from './caller.ts'
import { authorize } from './guard.ts'
import { issuersOf, requireIssuer } from './issuers.ts'
import type { PublicKeys } from './service-keys.ts'
import { namesService, serverCredentials, type Tls } from './tls.ts'
import {
  callerKey,
  contractRoutes,
  definitionOf,
  endOfStream,
  type Method,
  maxMessageBytes,
  requestIdKey,
  type ServiceName,
  toStatus,
} from './wire.ts'
import { writeStream } from './write-stream.ts'

/** Of answers that wait for slow clients. */
const maxWaitingBytes = 128 * 2 ** 20

/** What a handler knows of the call besides its request. */
export type Call = {
  caller: Caller
  requestId: string
  /** When the answer is no longer awaited, in milliseconds since the epoch. */
  deadline: number
  /** Fires when the client went away or the deadline passed. */
  signal: AbortSignal
  logger: Logger
}

type Streamed<T> = T | AsyncIterable<T>

/** Handler of one method: a server stream may answer one message or many, a client stream gets its requests as an iterable. */
export type Handler<M extends Method> = M['kind'] extends 'client_stream'
  ? (requests: AsyncIterable<M['request']>, call: Call) => Promise<M['response']>
  : M['kind'] extends 'server_stream'
    ? (request: M['request'], call: Call) => Promise<Streamed<M['response']>> | Streamed<M['response']>
    : (request: M['request'], call: Call) => Promise<M['response']>

/** Handlers of a whole service, by its full name. */
export type Handlers<N extends ServiceName> = {
  [K in keyof Services[N]]: Services[N][K] extends Method ? Handler<Services[N][K]> : never
}

type AnyHandler = (request: unknown, call: Call) => unknown

export type ServeOptions = {
  services: { [N in ServiceName]?: Handlers<N> }
  /** 0 takes any free port. */
  port: number
  host?: string
  /** What the callers' assertions are verified with. */
  trust: { publicKeys: PublicKeys }
  /** With it only clients with a certificate of the same authority are let in. */
  tls?: Tls | undefined
  logger: Logger
  metrics?: Metrics
  /** Connections are renewed after this time, so that clients find new replicas. */
  maxConnectionAgeMs?: number
}

/** A running gRPC server. */
export type RpcServer = {
  port: number
  /** Answers health probes with "not serving" from now on; calls still work. */
  drain(): void
  /** Takes no new calls, lets those under way finish, then closes. */
  stop(): Promise<void>
}

/**
 * Serves handlers over gRPC, with the standard health service. Every call needs a signed caller identity, is held
 * against the access that its rpc declares, and ends in an answer or a declared error; nothing that a handler throws
 * reaches a client unless it is an AppError.
 */
export async function serve(options: ServeOptions): Promise<RpcServer> {
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    ...(options.maxConnectionAgeMs && { 'grpc.max_connection_age_ms': options.maxConnectionAgeMs }),
  })
  const names = Object.keys(options.services) as ServiceName[]
  const wiring = {
    ...options,
    verify: createVerifier(options.trust.publicKeys),
    waiting: createBudget({ total: maxWaitingBytes }),
  }
  for (const name of names) server.addService(definitionOf(name), wireService(name, wiring))
  const health = new HealthImplementation(Object.fromEntries(['', ...names].map(name => [name, 'SERVING'])))
  health.addToServer(server)
  const port = await listen(server, `${options.host ?? '0.0.0.0'}:${options.port}`, options.tls)
  return {
    port,
    drain: () => {
      for (const name of ['', ...names]) health.setStatus(name, 'NOT_SERVING')
    },
    stop: () => new Promise(resolve => server.tryShutdown(() => resolve())),
  }
}

function listen(server: Server, address: string, tls: Tls | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, serverCredentials(tls), (error, port) => (error ? reject(error) : resolve(port)))
  })
}

type Wiring = ServeOptions & { verify: Verify; waiting: Budget }

function wireService(name: ServiceName, options: Wiring): Record<string, UntypedHandleCall> {
  const handlers = options.services[name] as Record<string, AnyHandler>
  const routes = new Map(contractRoutes().map(route => [`${route.service}/${route.method}`, route]))
  const wired: Record<string, UntypedHandleCall> = {}
  for (const [rpcName, definition] of Object.entries(definitionOf(name))) {
    const method = lowerFirst(rpcName)
    const handler = handlers[method]
    if (!handler) throw new Error(`${name} has no handler for ${method}`)
    const rpc = { name: `${name}/${method}`, path: definition.path, route: routes.get(`${name}/${method}`), handler }
    const run = prepare(rpc, options)
    wired[rpcName] = definition.responseStream
      ? serverStream(run, options.waiting)
      : definition.requestStream
        ? clientStream(run)
        : unary(run)
  }
  return wired
}

type AnyCall = NodeJS.EventEmitter & {
  metadata: Metadata
  cancelled: boolean
  getDeadline(): Date | number
  getAuthContext(): { sslPeerCertificate?: PeerCertificate } | null
}
type Rpc = { name: string; path: string; route: Route | undefined; handler: AnyHandler }
type Run = (
  grpcCall: AnyCall,
  request: unknown,
  answer: (result: unknown) => Promise<void>,
) => Promise<AppError | undefined>

/** Wraps a handler with what every call needs: identity, guard, deadline, log, metrics, errors. */
function prepare({ name, path, route, handler }: Rpc, options: Wiring): Run {
  const issuers = issuersOf(path, route !== undefined)
  const durations = options.metrics?.histogram({
    name: 'rollcall_rpc_duration_seconds',
    help: 'Time that gRPC calls took in the service that answered them',
    labels: ['rpc', 'code'],
  })
  const run: Run = async (grpcCall, request, answer) => {
    const startedAt = performance.now()
    const assertion = assertionOf(grpcCall, path, options)
    const call = assertion && callOf(grpcCall, assertion.caller, options)
    let failure: AppError | undefined
    try {
      if (!call) throw new AppError('caller.unverified')
      requireIssuer(issuers, assertion)
      authorize(route?.access, route?.verb, call.caller)
      await answer(await handler(request, call))
    } catch (thrown) {
      failure = toAppError(thrown)
      if (failure.status === 503 && !call?.signal.aborted) {
        ;(call?.logger ?? options.logger).error({ rpc: name, err: failure.cause ?? failure }, 'call failed')
      }
    }
    durations?.observe({ rpc: name, code: failure?.code ?? 'ok' }, (performance.now() - startedAt) / 1000)
    return failure
  }
  return (grpcCall, request, answer) => {
    if (!isTracing()) return run(grpcCall, request, answer)
    return traced(name, { kind: 'server', from: carrierOf(grpcCall.metadata) }, async span => {
      const failure = await run(grpcCall, request, answer)
      span.setAttribute('rpc.response.status_code', failure?.code ?? 'ok')
      return failure
    })
  }
}

function carrierOf(metadata: Metadata): TraceCarrier {
  const given = ['traceparent', 'tracestate'].map(name => [name, metadata.get(name)[0]?.toString()])
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** Over mutual TLS a service signs for itself alone: its certificate has to name the issuer. */
function assertionOf(grpcCall: AnyCall, path: string, { verify, tls }: Wiring): Assertion | undefined {
  const assertion = verify(grpcCall.metadata.get(callerKey)[0]?.toString(), path)
  if (!assertion || !tls) return assertion
  return namesService(grpcCall.getAuthContext()?.sslPeerCertificate, assertion.issuer) ? assertion : undefined
}

function callOf(grpcCall: AnyCall, caller: Caller, options: ServeOptions): Call {
  const requestId = grpcCall.metadata.get(requestIdKey)[0]?.toString() ?? ''
  const aborted = new AbortController()
  grpcCall.once('cancelled', () => aborted.abort())
  let logger: Logger | undefined
  return {
    caller,
    requestId,
    deadline: Number(grpcCall.getDeadline()),
    signal: aborted.signal,
    get logger() {
      logger ??= options.logger.child({ requestId })
      return logger
    },
  }
}

function unary(run: Run): UntypedHandleCall {
  return async (
    grpcCall: ServerUnaryCall<unknown, unknown>,
    callback: (error: ServerErrorResponse | null, value?: unknown) => void,
  ) => {
    const failure = await run(grpcCall, grpcCall.request, async result => callback(null, result))
    if (failure) callback(asError(failure))
  }
}

function clientStream(run: Run): UntypedHandleCall {
  return async (
    grpcCall: ServerReadableStream<unknown, unknown>,
    callback: (error: ServerErrorResponse | null, value?: unknown) => void,
  ) => {
    const failure = await run(grpcCall, wholeStream(grpcCall), async result => callback(null, result))
    if (failure) callback(asError(failure))
    grpcCall.resume()
  }
}

/** The requests of a client's stream; throws where it breaks off, so that no part is taken for the whole. */
async function* wholeStream(requests: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  let isWhole = false
  for await (const request of requests) {
    if (isWhole)
      throw new AppError('service.unavailable', {}, { cause: new Error('a request after the end of the stream') })
    if (request === endOfStream) isWhole = true
    else yield request
  }
  if (!isWhole) throw new AppError('service.unavailable', {}, { cause: new Error('the stream of requests broke off') })
}

function serverStream(run: Run, waiting: Budget): UntypedHandleCall {
  return async (grpcCall: ServerWritableStream<unknown, unknown>) => {
    const failure = await run(grpcCall, grpcCall.request, result => writeStream(grpcCall, result, waiting))
    if (failure) grpcCall.emit('error', asError(failure))
    else grpcCall.end()
  }
}

function asError(failure: AppError): Error & Partial<ServerErrorResponse> {
  return Object.assign(new Error(failure.message), toStatus(failure))
}
