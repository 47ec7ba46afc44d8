import type { PeerCertificate } from 'node:tls'
import {
  type Metadata,
  Server,
  type ServerErrorResponse,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedHandleCall,
} from '@grpc/grpc-js'
import { AppError, accessOf, lowerFirst, toAppError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'
import {
  type Budget,
  createBudget,
  isTracing,
  type Logger,
  type Metrics,
  type TraceCarrier,
  traced,
  withOrigin,
} from '@rollcall/runtime'
import { HealthImplementation } from 'grpc-health-check'
import { type Assertion, createVerifier, type Verify } from './assertion.ts'
import { type Caller, originOf } from './caller.ts'
import { authorize } from './guard.ts'
import { issuersOf, requireIssuer } from './issuers.ts'
import type { PublicKeys } from './service-keys.ts'
import { namesService, serverCredentials, type Tls } from './tls.ts'
import {
  CALLER_KEY,
  definitionOf,
  endOfStream,
  MAX_MESSAGE_BYTES,
  type Method,
  REQUEST_ID_KEY,
  rpcOf,
  type ServiceName,
  toStatus,
} from './wire.ts'
import { writeStream } from './write-stream.ts'

/** Maximum bytes of answers buffered for slow clients. */
const MAX_WAITING_BYTES = 128 * 2 ** 20

/** The context of a call for its handler. */
export type Call = {
  caller: Caller
  requestId: string
  /** Deadline in milliseconds since the epoch. */
  deadline: number
  /** Aborts when the client disconnects or the deadline passes. */
  signal: AbortSignal
  logger: Logger
}

type Streamed<T> = T | AsyncIterable<T>

/** Handler of a method. A server stream may return one or many messages; a client stream receives an iterable. */
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
  /** Port to listen on; 0 for any free port. */
  port: number
  host?: string
  /** Keys to verify assertions with. */
  trust: { publicKeys: PublicKeys }
  /** Requires clients to have a certificate of the same authority. */
  tls?: Tls | undefined
  logger: Logger
  metrics?: Metrics
  /** Maximum age of a connection, so that clients find new replicas. */
  maxConnectionAgeMs?: number
}

/** A running gRPC server. */
export type RpcServer = {
  port: number
  /** Makes health probes return "not serving". Calls still work. */
  drain(): void
  /** Refuses new calls, waits for running ones, then closes. Cuts those that still run when `late` aborts. */
  stop(late?: AbortSignal): Promise<void>
}

/**
 * Serves handlers over gRPC, with the standard health service. Every call needs a signed caller identity and the access
 * that its rpc declares. Clients only receive answers and AppErrors; other errors become `service.unavailable`.
 */
export async function serve(options: ServeOptions): Promise<RpcServer> {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    ...(options.maxConnectionAgeMs && { 'grpc.max_connection_age_ms': options.maxConnectionAgeMs }),
  })
  const names = Object.keys(options.services) as ServiceName[]
  const wiring = {
    ...options,
    verify: createVerifier(options.trust.publicKeys),
    waiting: createBudget({ total: MAX_WAITING_BYTES }),
  }
  for (const name of names) {
    const definition = definitionOf(name)
    server.addService(definition, wireService(name, definition, wiring))
  }
  const health = new HealthImplementation(Object.fromEntries(['', ...names].map(name => [name, 'SERVING'])))
  health.addToServer(server)
  const port = await listen(server, `${options.host ?? '0.0.0.0'}:${options.port}`, options.tls)
  return {
    port,
    drain: () => {
      for (const name of ['', ...names]) health.setStatus(name, 'NOT_SERVING')
    },
    stop: late =>
      new Promise(resolve => {
        server.tryShutdown(() => resolve())
        late?.addEventListener('abort', () => server.forceShutdown())
      }),
  }
}

function listen(server: Server, address: string, tls: Tls | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, serverCredentials(tls), (error, port) => (error ? reject(error) : resolve(port)))
  })
}

type Wiring = ServeOptions & { verify: Verify; waiting: Budget }

function wireService(
  name: ServiceName,
  definitions: ServiceDefinition,
  options: Wiring,
): Record<string, UntypedHandleCall> {
  const handlers = options.services[name] as Record<string, AnyHandler>
  const wired: Record<string, UntypedHandleCall> = {}
  for (const [rpcName, definition] of Object.entries(definitions)) {
    const method = lowerFirst(rpcName)
    const handler = handlers[method]
    if (!handler) throw new Error(`${name} has no handler for ${method}`)
    const run = prepare({ name: `${name}/${method}`, path: definition.path, handler }, options)
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
type Rpc = { name: string; path: string; handler: AnyHandler }
type Run = (
  grpcCall: AnyCall,
  request: unknown,
  answer: (result: unknown) => Promise<void>,
) => Promise<AppError | undefined>

/** Wraps a handler with identity, guard, deadline, log, metrics and error handling. */
function prepare({ name, path, handler }: Rpc, options: Wiring): Run {
  const route = accessOf(rpcOf(path)!)
  const issuers = issuersOf(path, route !== undefined)
  const durations = options.metrics?.histogram({
    name: 'rollcall_rpc_duration_seconds',
    help: 'Duration of gRPC calls in the serving service, in seconds',
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
      await withOrigin(
        () => originOf(call),
        async () => answer(await handler(request, call)),
      )
    } catch (thrown) {
      failure = toAppError(thrown)
      if (failure.status === 503 && !grpcCall.cancelled) {
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

/** Returns the verified assertion. Over mutual TLS the client's certificate must name the issuer. */
function assertionOf(grpcCall: AnyCall, path: string, { verify, tls }: Wiring): Assertion | undefined {
  const assertion = verify(grpcCall.metadata.get(CALLER_KEY)[0]?.toString(), path)
  if (!assertion || !tls) return assertion
  return namesService(grpcCall.getAuthContext()?.sslPeerCertificate, assertion.issuer) ? assertion : undefined
}

function callOf(grpcCall: AnyCall, caller: Caller, options: ServeOptions): Call {
  const requestId = grpcCall.metadata.get(REQUEST_ID_KEY)[0]?.toString() ?? ''
  let signal: AbortSignal | undefined
  let logger: Logger | undefined
  return {
    caller,
    requestId,
    deadline: Number(grpcCall.getDeadline()),
    get signal() {
      signal ??= cancelSignal(grpcCall)
      return signal
    },
    get logger() {
      logger ??= options.logger.child({ requestId })
      return logger
    },
  }
}

/** Returns the signal of a call's cancellation. Few handlers ask for it, and an abort costs 10 µs: it makes an error. */
function cancelSignal(grpcCall: AnyCall): AbortSignal {
  const cancelled = new AbortController()
  if (grpcCall.cancelled) cancelled.abort()
  else grpcCall.once('cancelled', () => cancelled.abort())
  return cancelled.signal
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

/** Yields the requests of a client stream. Throws if it is incomplete. */
async function* wholeStream(requests: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  let isWhole = false
  for await (const request of requests) {
    if (isWhole)
      throw new AppError('service.unavailable', {}, { cause: new Error('a request after the end of the stream') })
    if (request === endOfStream) isWhole = true
    else yield request
  }
  if (!isWhole) throw new AppError('service.unavailable', {}, { cause: new Error('the request stream is incomplete') })
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
