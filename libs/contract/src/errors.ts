import { status as grpcStatus } from '@grpc/grpc-js'

type Shape = 'error' | 'success' | 'text' | 'oauth'
type Kind = { http: number; grpc: number; shape: Shape }

const invalid: Kind = { http: 400, grpc: grpcStatus.INVALID_ARGUMENT, shape: 'error' }
const denied: Kind = { http: 403, grpc: grpcStatus.PERMISSION_DENIED, shape: 'error' }
const conflict: Kind = { http: 409, grpc: grpcStatus.ALREADY_EXISTS, shape: 'error' }
const unavailable: Kind = { http: 503, grpc: grpcStatus.UNAVAILABLE, shape: 'error' }
const oauth = { ...invalid, shape: 'oauth' as Shape, text: (d: { message: string }) => d.message }
/** A limit of an organization, as in "100 domains per organization". */
type Quota = { limit: number; what: string }
const withSuccessShape = (kind: Kind): Kind => ({ ...kind, shape: 'success' })

/**
 * Every way a request can be refused: its statuses, the body's shape and the public text. `details` is all that a
 * caller may learn; what happened inside travels as `cause` and reaches the log only.
 */
const catalogue = {
  missing_field: { ...invalid, text: (d: { path: string }) => `missing field -> ${d.path}` },
  extra_field: { ...invalid, text: (d: { path: string }) => `extra field -> ${d.path}` },
  empty_array: { ...invalid, text: (d: { path: string }) => `empty array -> ${d.path}` },
  invalid_field: {
    ...invalid,
    text: (d: { path: string; reason?: string }) => `invalid field -> ${d.path}${d.reason ? `: ${d.reason}` : ''}`,
  },
  bad_request: { ...invalid, text: (d: { message: string; path?: string }) => d.message },
  refused: { ...withSuccessShape(invalid), text: (d: { message: string }) => d.message },
  unauthenticated: {
    http: 401,
    grpc: grpcStatus.UNAUTHENTICATED,
    shape: 'text' as Shape,
    text: (d: { message: string }) => d.message,
  },
  forbidden: { ...denied, text: (d: { message: string }) => d.message },
  not_allowed: { ...withSuccessShape(denied), text: (d: { message: string }) => d.message },
  not_found: {
    http: 404,
    grpc: grpcStatus.NOT_FOUND,
    shape: 'error' as Shape,
    text: (d: { what: string }) => `${d.what} not found`,
  },
  duplicate: { ...conflict, text: (d: { path: string }) => `duplicate -> ${d.path}` },
  conflict: { ...conflict, text: (d: { message: string; path?: string }) => d.message },
  rate_limited: {
    http: 429,
    grpc: grpcStatus.RESOURCE_EXHAUSTED,
    shape: 'success' as Shape,
    text: (_: { retryAfterSeconds: number }) => 'too many requests, please try again later',
  },
  /** The organization already has as many stored records of a kind as it may. */
  quota_exceeded: { ...conflict, text: (d: Quota) => `limit reached: ${d.limit} ${d.what}` },
  /** The organization has too much of a kind in progress or pending; it clears by itself. */
  too_many_pending: {
    http: 429,
    grpc: grpcStatus.RESOURCE_EXHAUSTED,
    shape: 'success' as Shape,
    text: (d: Quota & { retryAfterSeconds: number }) => `limit reached: ${d.limit} ${d.what}`,
  },
  // What the OAuth endpoints answer by: RFC 6749 5.2, RFC 8693 2.2.2 and RFC 7591 3.2.2.
  invalid_request: oauth,
  invalid_client: { ...oauth, http: 401, grpc: grpcStatus.UNAUTHENTICATED },
  unsupported_grant_type: oauth,
  invalid_scope: oauth,
  invalid_target: oauth,
  invalid_redirect_uri: oauth,
  invalid_client_metadata: oauth,
  unavailable: { ...unavailable, text: (_: Record<never, never>) => 'service unavailable' },
}

type Catalogue = typeof catalogue
/** The code of a refusal: stable, machine-readable, the key of the catalogue. */
export type ErrorCode = keyof Catalogue
/** What a refusal of this code carries for the caller. */
export type ErrorDetails<C extends ErrorCode> = Parameters<Catalogue[C]['text']>[0]

/**
 * A refusal with a declared answer: `throw new AppError('not_found', { what: 'contact' })`.
 * `message` is the public text; `cause` is for the log and never leaves the service.
 */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails<C>

  constructor(code: C, details: ErrorDetails<C>, options?: { cause?: unknown }) {
    super((catalogue[code].text as (d: ErrorDetails<C>) => string)(details), options)
    this.name = 'AppError'
    this.code = code
    this.details = details
  }

  /** HTTP status of the answer. */
  get status(): number {
    return catalogue[this.code].http
  }

  /** Status of the same refusal between services, from google.rpc.Code. */
  get grpcStatus(): number {
    return catalogue[this.code].grpc
  }

  /** Dotted path of the field at fault, where there is one. */
  get path(): string | undefined {
    return 'path' in this.details ? (this.details.path as string) : undefined
  }

  /** The JSON body of the answer, or null where the answer is plain text (401). */
  get body(): Record<string, unknown> | null {
    const { shape } = catalogue[this.code]
    if (shape === 'text') return null
    if (shape === 'oauth') return { error: this.code, error_description: plainText(this.message) }
    if (shape === 'success') return { success: false, message: this.message }
    return { error: true, message: this.message, ...(this.path !== undefined && { path: this.path }) }
  }
}

/** A text with all but visible ASCII, quotes and backslashes replaced: what headers and OAuth's descriptions may hold. */
export function plainText(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, "'")
}

/** Whether a string names an error of the catalogue: what arrives from another service is not trusted to. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code)
}

/** Turns anything thrown into a declared refusal: what was not foreseen is `unavailable`, with the original as cause. */
export function toAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('unavailable', {}, { cause: thrown })
}
