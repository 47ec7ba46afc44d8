import { status } from '@grpc/grpc-js'
import { type ErrorCode, type ErrorDetails, entryOf, isErrorCode } from './errors/catalogue.ts'
import type { NoDetails, Shape } from './errors/entry.ts'

/** Details and cause of a refusal. Details are left out where the code has none. */
type Rest<C extends ErrorCode> =
  ErrorDetails<C> extends NoDetails
    ? [details?: ErrorDetails<C>, options?: { cause?: unknown }]
    : [details: ErrorDetails<C>, options?: { cause?: unknown }]

/**
 * A refusal with a declared answer: `throw new AppError('list.archived', { path: 'id' })`.
 * `message` is the public text; `details` is all that a caller may learn; `cause` is for the log and never leaves the
 * service.
 */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails<C>

  constructor(code: C, ...[details, options]: Rest<C>) {
    const given = (details ?? {}) as ErrorDetails<C>
    super(entryOf(code).text(given), options)
    this.name = 'AppError'
    this.code = code
    this.details = given
  }

  /** HTTP status of the answer. */
  get status(): number {
    return entryOf(this.code).http
  }

  /** Status of the same refusal between services, from google.rpc.Code. */
  get grpcStatus(): number {
    return entryOf(this.code).grpc
  }

  /** Outer shape of the answer's body. */
  get shape(): Shape {
    return entryOf(this.code).shape
  }

  /** Dotted path of the field at fault, where there is one. */
  get path(): string | undefined {
    const { path } = entryOf(this.code)
    if (path !== undefined) return path
    return 'path' in this.details ? (this.details.path as string) : undefined
  }

  /** The JSON body of the answer, or null where the answer is plain text (401). */
  get body(): Record<string, unknown> | null {
    const { shape, oauth } = entryOf(this.code)
    if (shape === 'text') return null
    if (shape === 'oauth') return { error: oauth, error_description: plainText(this.message) }
    if (shape === 'success') return { success: false, message: this.message }
    return { error: true, message: this.message, ...(this.path !== undefined && { path: this.path }) }
  }
}

/** A text with all but visible ASCII, quotes and backslashes replaced: what headers and OAuth's descriptions may hold. */
export function plainText(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, "'")
}

/** What a code that is not known here becomes, by its gRPC status. */
const unknownCodes: Readonly<Record<number, ErrorCode>> = {
  [status.INVALID_ARGUMENT]: 'request.refused',
  [status.UNAUTHENTICATED]: 'credential.refused',
  [status.PERMISSION_DENIED]: 'access.refused',
  [status.NOT_FOUND]: 'record.not_found',
  [status.ALREADY_EXISTS]: 'record.conflict',
  [status.RESOURCE_EXHAUSTED]: 'quota.refused',
}

/**
 * Rebuilds a refusal that another service, or another release, wrote. A code that is not in the catalogue, or whose
 * details do not fit it, becomes the general refusal of its gRPC status.
 */
export function reviveError(written: unknown, grpcStatus: number = status.UNAVAILABLE): AppError {
  try {
    const { code, details = {} } = written as { code: unknown; details?: unknown }
    if (isErrorCode(code)) return anyError(code, details)
  } catch {
    // The details are those of another release.
  }
  return anyError(unknownCodes[grpcStatus] ?? 'service.unavailable', {})
}

function anyError(code: ErrorCode, details: unknown): AppError {
  return new AppError<ErrorCode>(code, details as ErrorDetails<ErrorCode>)
}

/** Turns anything thrown into a declared refusal: the unexpected is `service.unavailable`, with the original as cause. */
export function toAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('service.unavailable', {}, { cause: thrown })
}
