import {
  type ClientWritableStream,
  Client as GrpcClient,
  Metadata,
  type MethodDefinition,
  type ServiceError,
} from '@grpc/grpc-js'
import { lowerFirst, toAppError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'
import { backoffMs, pause, retry, type SpanOptions, traceCarrier, traced, tracedStream } from '@rollcall/runtime'
import { AFFINITY_KEY, affinityConfig } from './affinity.ts'
import { createSigner, type Sign } from './assertion.ts'
import type { Caller } from './caller.ts'
import type { SigningKey } from './service-keys.ts'
import { channelCredentials, type Tls } from './tls.ts'
import {
  CALLER_KEY,
  changesState,
  definitionOf,
  endOfStream,
  fromServiceError,
  isIdempotentMethod,
  isRetryable,
  MAX_MESSAGE_BYTES,
  type Method,
  REQUEST_ID_KEY,
  type ServiceName,
} from './wire.ts'

/** The context of a call. */
export type CallContext = {
  caller: Caller
  requestId?: string
  /** Deadline in milliseconds since the epoch. */
  deadline?: number
  signal?: AbortSignal
}

type ClientMethod<M extends Method> = M['kind'] extends 'client_stream'
  ? (requests: AsyncIterable<M['request']>, context: CallContext) => Promise<M['response']>
  : M['kind'] extends 'server_stream'
    ? (request: M['request'], context: CallContext) => AsyncIterable<M['response']>
    : (request: M['request'], context: CallContext) => Promise<M['response']>

/** A client of a service, by its full name. Failures are AppErrors. A server stream throws while iterating. */
export type Client<N extends ServiceName> = {
  [K in keyof Services[N]]: Services[N][K] extends Method ? ClientMethod<Services[N][K]> : never
}

/** A connection to the process that serves some services. */
export type Connection = {
  client<N extends ServiceName>(name: N): Client<N>
  /** Resolves when the process can be reached. */
  ready(withinMs: number): Promise<void>
  close(): void
}

export type ConnectOptions = {
  /** host:port, or dns:///host:port for a name with several addresses. */
  address: string
  /** Key to sign assertions with. */
  trust: { signingKey: SigningKey }
  /** Enables mutual TLS. Without it, calls are unencrypted. */
  tls?: Tls | undefined
  /** Default deadline of a call, and of the first message of a stream. Default: 10,000. */
  deadlineMs?: number
  /** Default deadline of a whole stream. Default: 600,000. */
  streamDeadlineMs?: number
}

/** How much of a stream may be under way. A stream that nobody reads holds as much. */
const FLOW_CONTROL_BYTES = 2 ** 20

/** How often a connection is probed, and how long it may take to answer. */
export const KEEPALIVE_MS = 5_000

/** Creates a connection to an address. It connects on first use, and reconnects when lost. */
export function connect(options: ConnectOptions): Connection {
  const channel = new GrpcClient(options.address, channelCredentials(options.tls), {
    'grpc.service_config': affinityConfig,
    // Calls are retried here (`ATTEMPTS`). gRPC would keep a copy of each call for retries of its own.
    'grpc.enable_retries': 0,
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    // The default of 64 KiB makes each chunk of an export wait for leave to be sent.
    'grpc-node.flow_control_window': FLOW_CONTROL_BYTES,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    // Limits how often a lost connection resolves the name again. The default of 30 s delays finding new replicas.
    'grpc.dns_min_time_between_resolutions_ms': 2_000,
    // A machine that crashes does not close its connections. Keepalive detects it, and calls go to another replica.
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_MS,
    'grpc.keepalive_permit_without_calls': 1,
    // Services are reached directly. The environment's proxy is for external connections.
    'grpc.enable_http_proxy': 0,
  })
  const sign = createSigner(options.trust.signingKey)
  return {
    client: name => buildClient(name, channel, { ...options, sign }),
    ready: withinMs =>
      new Promise((resolve, reject) => {
        channel.waitForReady(Date.now() + withinMs, error => (error ? reject(error) : resolve()))
      }),
    close: () => channel.close(),
  }
}

type CallOptions = Pick<ConnectOptions, 'deadlineMs' | 'streamDeadlineMs'> & { sign: Sign }

function buildClient<N extends ServiceName>(name: N, channel: GrpcClient, options: CallOptions): Client<N> {
  const methods = Object.entries(definitionOf(name)).map(([rpcName, definition]) => {
    const method = lowerFirst(rpcName)
    if (definition.responseStream) return [method, serverStream(channel, definition, options)]
    return [
      method,
      definition.requestStream ? clientStream(channel, definition, options) : unary(channel, definition, options),
    ]
  })
  return Object.fromEntries(methods) as Client<N>
}

type Definition = MethodDefinition<unknown, unknown>

const clientSpan: SpanOptions = { kind: 'client', attributes: { 'rpc.system.name': 'grpc' } }

/** Returns the name of a call's span: package.Service/Method. */
const spanName = (path: string) => path.slice(1)

/**
 * A call that a stopping replica refuses is retried at another one. gRPC's `retryPolicy` does not fit: it retries when a
 * service itself answers UNAVAILABLE, and it does not retry non-idempotent calls that never reached a service.
 */
const ATTEMPTS = 4
const FIRST_WAIT_MS = 10

type Callback = (error: ServiceError | null, value?: unknown) => void

function unary(channel: GrpcClient, { path, requestSerialize, responseDeserialize }: Definition, options: CallOptions) {
  const isIdempotent = isIdempotentMethod(path)
  const hasAffinity = changesState(path)
  const retryable = (failure: unknown) => isRetryable(failure, isIdempotent)
  return (request: unknown, context: CallContext) => {
    const { deadline } = callOptions(context, options.deadlineMs ?? 10_000)
    const { signal } = context
    const policy = { attempts: ATTEMPTS, baseMs: FIRST_WAIT_MS, deadline, retryable, ...(signal && { signal }) }
    // A retry takes any replica: the one of the organization may be stopping.
    let affinity = hasAffinity ? context.caller.organizationId : ''
    const call = () =>
      answered(context, callback => {
        const metadata = metadataOf(context, path, options)
        if (affinity) metadata.set(AFFINITY_KEY, affinity)
        affinity = ''
        return channel.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          metadata,
          { deadline },
          callback,
        )
      })
    return traced(spanName(path), clientSpan, () => retry(call, policy))
  }
}

function clientStream(
  channel: GrpcClient,
  { path, requestSerialize, responseDeserialize }: Definition,
  options: CallOptions,
) {
  const run = (requests: AsyncIterable<unknown>, context: CallContext): Promise<unknown> => {
    let call: ClientWritableStream<unknown>
    const answer = answered(context, callback => {
      call = channel.makeClientStreamRequest(
        path,
        requestSerialize,
        responseDeserialize,
        metadataOf(context, path, options),
        callOptions(context, options.streamDeadlineMs ?? 600_000),
        callback,
      )
      return call
    })
    // If the source fails, the call fails with its error. If the server answers early, the rest is not sent.
    const sent = sendAll(requests, call!).catch(error => {
      call.cancel()
      throw toAppError(error)
    })
    return Promise.race([answer, sent.then(() => answer)])
  }
  return (requests: AsyncIterable<unknown>, context: CallContext) =>
    traced(spanName(path), clientSpan, () => run(requests, context))
}

/** Sends requests with backpressure. Stops early if the server has answered. */
async function sendAll(requests: AsyncIterable<unknown>, call: ClientWritableStream<unknown>): Promise<void> {
  let answered = false
  const status = new Promise<void>(resolve => {
    call.once('status', () => {
      answered = true
      resolve()
    })
  })
  for await (const request of requests) {
    if (answered) return
    if (!call.write(request)) await Promise.race([new Promise(resolve => call.once('drain', resolve)), status])
  }
  call.write(endOfStream)
  call.end()
}

/** Runs a call with one answer. Cancels it when the caller's signal aborts. */
function answered(context: CallContext, start: (callback: Callback) => { cancel(): void }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = () => call.cancel()
    const call = start((error, value) => {
      context.signal?.removeEventListener('abort', cancel)
      if (error) reject(fromServiceError(error))
      else resolve(value)
    })
    onAbort(context.signal, cancel)
  })
}

/** Calls `cancel` when the signal aborts, or now if it already has. */
function onAbort(signal: AbortSignal | undefined, cancel: () => void): void {
  if (signal?.aborted) cancel()
  else signal?.addEventListener('abort', cancel, { once: true })
}

function serverStream(
  channel: GrpcClient,
  { path, requestSerialize, responseDeserialize }: Definition,
  options: CallOptions,
) {
  const firstWithinMs = options.deadlineMs ?? 10_000
  const isIdempotent = isIdempotentMethod(path)
  const attempt = async function* (request: unknown, context: CallContext, firstBy: number): AsyncGenerator<unknown> {
    const call = channel.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadataOf(context, path, options),
      callOptions(context, options.streamDeadlineMs ?? 600_000),
    )
    const cancel = () => call.cancel()
    // A stream may run for long, but its first message must arrive as soon as a unary answer.
    const timer = setTimeout(cancel, firstBy - Date.now())
    onAbort(context.signal, cancel)
    try {
      for await (const message of call) {
        clearTimeout(timer)
        yield message
      }
    } catch (error) {
      throw fromServiceError(error as ServiceError)
    } finally {
      clearTimeout(timer)
      context.signal?.removeEventListener('abort', cancel)
      call.cancel()
    }
  }
  /** Retries a stream that has not yielded a message yet. */
  const run = async function* (request: unknown, context: CallContext): AsyncGenerator<unknown> {
    const firstBy = context.deadline ?? Date.now() + firstWithinMs // one deadline for all attempts
    for (let number = 1; ; number++) {
      let hasBegun = false
      try {
        for await (const message of attempt(request, context, firstBy)) {
          hasBegun = true
          yield message
        }
        return
      } catch (failure) {
        const mayRetry = !hasBegun && number < ATTEMPTS && Date.now() < firstBy && isRetryable(failure, isIdempotent)
        if (!mayRetry) throw failure
        await pause(backoffMs(number, { baseMs: FIRST_WAIT_MS }), context.signal)
      }
    }
  }
  return (request: unknown, context: CallContext) =>
    tracedStream(spanName(path), clientSpan, () => run(request, context))
}

function metadataOf(context: CallContext, path: string, { sign }: CallOptions): Metadata {
  const metadata = new Metadata()
  metadata.set(CALLER_KEY, sign(context.caller, path))
  if (context.requestId) metadata.set(REQUEST_ID_KEY, context.requestId)
  for (const [name, value] of Object.entries(traceCarrier())) metadata.set(name, value)
  return metadata
}

function callOptions(context: CallContext, defaultMs: number): { deadline: number } {
  return { deadline: context.deadline ?? Date.now() + defaultMs }
}
