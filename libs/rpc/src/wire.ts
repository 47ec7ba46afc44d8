import {
  status as grpcStatus,
  Metadata,
  type MethodDefinition,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js'
import { AppError, accessOf, contractRoot, jsonFieldsOf, type Route, reviveError } from '@rollcall/contract'
import type { Services } from '@rollcall/protos'

/** Full name of a gRPC service of the contract. */
export type ServiceName = keyof Services & string

/** A method as declared by the generated services. */
export type Method = { kind: 'unary' | 'server_stream' | 'client_stream'; request: unknown; response: unknown }

/** Maximum size of a message in bytes: fits an import batch or a page of 1,000 records. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

export const CALLER_KEY = 'rollcall-caller'
export const REQUEST_ID_KEY = 'rollcall-request-id'
const ERROR_KEY = 'rollcall-error-bin'

const root = contractRoot()

/**
 * Empty last message of a client stream. gRPC's half-close is not enough: a server also sees it when the call is
 * cancelled or the connection is lost, and would accept a partial stream as complete.
 */
export const endOfStream = Symbol('end of stream')

/** What messages are at both ends: numbers for 64 bits, names for enums, defaults for absent fields. */
const CONVERSION = { longs: Number, enums: String, defaults: true }

/** Returns the wire definition of a service. Free JSON is text on the wire, and values at both ends. */
export function definitionOf(name: ServiceName): ServiceDefinition {
  const methods = root.lookupService(name).methodsArray.map(method => {
    const typed = withJson(plainDefinition(`/${name}/${method.name}`, method), method)
    return [method.name, typed.requestStream ? withEnd(typed) : typed]
  })
  return Object.fromEntries(methods)
}

type Definition = MethodDefinition<unknown, unknown>
type Rpc = Route['rpc']

function plainDefinition(path: string, rpc: Rpc): Definition {
  const request = codecOf(rpc.resolvedRequestType!)
  const response = codecOf(rpc.resolvedResponseType!)
  return {
    path,
    requestStream: rpc.requestStream === true,
    responseStream: rpc.responseStream === true,
    requestSerialize: request.serialize,
    requestDeserialize: request.deserialize,
    responseSerialize: response.serialize,
    responseDeserialize: response.deserialize,
  }
}

function codecOf(type: NonNullable<Rpc['resolvedRequestType']>) {
  return {
    serialize: (message: unknown) => type.encode(type.fromObject(message as object)).finish() as Buffer,
    deserialize: (bytes: Buffer) => type.toObject(type.decode(bytes), CONVERSION) as unknown,
  }
}

function withJson(definition: Definition, { resolvedRequestType, resolvedResponseType }: Rpc): Definition {
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

/** Returns the gRPC status of a refusal, with its code and public details, but not its cause. */
export function toStatus(error: AppError): Partial<StatusObject> {
  const metadata = new Metadata()
  metadata.set(ERROR_KEY, Buffer.from(JSON.stringify({ code: error.code, details: error.details })))
  // gRPC encodes the text as a URI, which fails for lone surrogates.
  return { code: error.grpcStatus, details: error.message.toWellFormed(), metadata }
}

/** Returns the refusal of a gRPC error. Any other error means that the service could not be reached. */
export function fromServiceError(error: ServiceError): AppError {
  const bytes = error.metadata?.get(ERROR_KEY)[0]
  if (Buffer.isBuffer(bytes)) return reviveError(JSON.parse(bytes.toString()), error.code)
  return new AppError('service.unavailable', {}, { cause: error })
}

/**
 * Whether a failed call may have had an effect: there was no answer, or the service was unavailable, possibly because it
 * lost its database during a commit. No effect: another refusal, no connection, or a stopping server that refused the call.
 */
export function mayHaveTakenEffect(failure: unknown): boolean {
  const cause = failure instanceof AppError ? failure.cause : failure
  if (cause === undefined) return failure instanceof AppError && failure.code === 'service.unavailable'
  return !NEVER_HANDLED.test(transportFailure(cause)?.details ?? '')
}

const NEVER_HANDLED = /No connection established|Name resolution failed|Stream refused by server/

/** Whether a failed call may be retried: it never reached the service, or the method is idempotent. */
export function isRetryable(failure: unknown, isIdempotent: boolean): boolean {
  const lost = failure instanceof AppError ? transportFailure(failure.cause) : undefined
  if (lost?.code !== grpcStatus.UNAVAILABLE) return false
  return isIdempotent || NEVER_HANDLED.test(lost.details)
}

function transportFailure(cause: unknown): ServiceError | undefined {
  return cause instanceof Error && 'details' in cause && 'code' in cause ? (cause as ServiceError) : undefined
}

/** Whether a method is idempotent: its route is a GET, or its proto sets `idempotency_level`. */
export function isIdempotentMethod(path: string): boolean {
  return isRead(path) || levelOf(path) !== undefined
}

/** Whether a method may change state: its route is not a GET, and its proto does not say that it has no side effects. */
export function changesState(path: string): boolean {
  return !isRead(path) && levelOf(path) !== 'NO_SIDE_EFFECTS'
}

function isRead(path: string): boolean {
  const rpc = rpcOf(path)
  return rpc !== undefined && accessOf(rpc)?.verb === 'GET'
}

function levelOf(path: string): unknown {
  return rpcOf(path)?.options?.idempotency_level
}

/** Returns the rpc of a path of gRPC: /rollcall.audience.v1.Contacts/ListContacts. */
export function rpcOf(path: string): Rpc | undefined {
  const [service = '', method = ''] = path.slice(1).split('/')
  return root.lookupService(service).methods[method]
}
