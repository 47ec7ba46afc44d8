import {
  status as grpcStatus,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import { fromJSON } from '@grpc/proto-loader'
import { AppError, compileRoutes, contractRoot, jsonFieldsOf, type Route, reviveError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'

/** Full name of a gRPC service of the contract. */
export type ServiceName = keyof Services & string

/** A method as the generated services declare it. */
export type Method = { kind: 'unary' | 'server_stream' | 'client_stream'; request: unknown; response: unknown }

/** What one end of a connection may send at most: an import batch or a page of a thousand fits. */
export const maxMessageBytes = 64 * 1024 * 1024

export const callerKey = 'rollcall-caller'
export const requestIdKey = 'rollcall-request-id'
const errorKey = 'rollcall-error-bin'

const root = contractRoot()
const definitions = fromJSON(root.toJSON(), { longs: Number, enums: String, defaults: true })
const routes = compileRoutes(root)

const idempotent = new Set(routes.filter(({ verb }) => verb === 'GET').map(({ rpc }) => rpc))

/** Every route of the contract, compiled once for the process. */
export function contractRoutes(): readonly Route[] {
  return routes
}

/**
 * Last message of a client's stream, of no bytes. gRPC's own half-close will not do: a server also sees it when the call
 * is cancelled or its connection is lost, and would take the part for the whole.
 */
export const endOfStream = Symbol('end of stream')

/** The wire definition of a service. Fields of free JSON are text on the wire only: they are values on both of its ends. */
export function definitionOf(name: ServiceName): ServiceDefinition {
  const service = root.lookupService(name)
  const methods = Object.entries(definitions[name] as ServiceDefinition).map(([method, definition]) => {
    const typed = withJson(definition, service.methods[method]!)
    return [method, definition.requestStream ? withEnd(typed) : typed]
  })
  return Object.fromEntries(methods)
}

type Definition = MethodDefinition<unknown, unknown>

function withJson(definition: Definition, { resolvedRequestType, resolvedResponseType }: Route['rpc']): Definition {
  const request = jsonFieldsOf(resolvedRequestType!)
  const response = jsonFieldsOf(resolvedResponseType!)
  const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } = definition
  return {
    ...definition,
    ...(request && {
      requestSerialize: message => requestSerialize(request.encode(message as Record<string, unknown>)),
      requestDeserialize: bytes => request.decode(requestDeserialize(bytes) as Record<string, unknown>),
    }),
    ...(response && {
      responseSerialize: message => responseSerialize(response.encode(message as Record<string, unknown>)),
      responseDeserialize: bytes => response.decode(responseDeserialize(bytes) as Record<string, unknown>),
    }),
  }
}

function withEnd(definition: Definition): Definition {
  const { requestSerialize, requestDeserialize } = definition
  return {
    ...definition,
    requestSerialize: message => (message === endOfStream ? Buffer.alloc(0) : requestSerialize(message)),
    requestDeserialize: bytes => (bytes.length === 0 ? endOfStream : requestDeserialize(bytes)),
  }
}

/** Puts a refusal on the wire whole: code and public details, never its cause. */
export function toStatus(error: AppError): Partial<StatusObject> {
  const metadata = new Metadata()
  metadata.set(errorKey, Buffer.from(JSON.stringify({ code: error.code, details: error.details })))
  // gRPC encodes the text as a URI, which half a character cannot be.
  return { code: error.grpcStatus, details: error.message.toWellFormed(), metadata }
}

/** Takes a refusal off the wire. Anything that is not one of ours means that the service could not be reached. */
export function fromServiceError(error: ServiceError): AppError {
  const bytes = error.metadata?.get(errorKey)[0]
  if (Buffer.isBuffer(bytes)) return reviveError(JSON.parse(bytes.toString()), error.code)
  return new AppError('service.unavailable', {}, { cause: error })
}

/**
 * Whether a failed call may have changed something nevertheless: no answer came, or the service itself was unavailable,
 * who may have lost its database at a commit. Another refusal means that nothing was changed; without a connection nothing
 * was asked; and what a server that is going away refuses it has not looked at.
 */
export function mayHaveTakenEffect(failure: unknown): boolean {
  const cause = failure instanceof AppError ? failure.cause : failure
  if (cause === undefined) return failure instanceof AppError && failure.code === 'service.unavailable'
  return !neverHandled.test(transportFailure(cause)?.details ?? '')
}

const neverHandled = /No connection established|Name resolution failed|Stream refused by server/

/** Whether a failed call may be retried: it never reached the service, or the method is idempotent. */
export function isRetryable(failure: unknown, isIdempotent: boolean): boolean {
  const lost = failure instanceof AppError ? transportFailure(failure.cause) : undefined
  if (lost?.code !== grpcStatus.UNAVAILABLE) return false
  return isIdempotent || neverHandled.test(lost.details)
}

function transportFailure(cause: unknown): ServiceError | undefined {
  return cause instanceof Error && 'details' in cause && 'code' in cause ? (cause as ServiceError) : undefined
}

/** Whether a method may be called twice: it is behind a GET, or its proto says so by `idempotency_level`. */
export function isIdempotentMethod(path: string): boolean {
  const [service = '', method = ''] = path.slice(1).split('/')
  const rpc = root.lookupService(service).methods[method]
  return rpc !== undefined && (idempotent.has(rpc) || rpc.options?.idempotency_level !== undefined)
}
