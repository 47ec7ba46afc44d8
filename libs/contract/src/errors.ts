import { status } from '@grpc/grpc-js'
import { type ErrorCode, type ErrorDetails, entryOf, isErrorCode } from './errors/catalogue.ts'
import type { NoDetails, Shape } from './errors/entry.ts'

/** Details and cause of a refusal. Details are omitted if the code has none. */
type Rest<C extends ErrorCode> =
  ErrorDetails<C> extends NoDetails
    ? [details?: ErrorDetails<C>, options?: { cause?: unknown }]
    : [details: ErrorDetails<C>, options?: { cause?: unknown }]

/** Longer texts are cut: clients may have sent them, and a refusal travels in headers between services. */
const MAX_TEXT_LENGTH = 1024

/**
 * A refusal of the catalogue: `throw new AppError('list.archived', { path: 'id' })`.
 * `message` and `details` are public; long texts in them are cut. `cause` is only logged and never leaves the service.
 */
export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C
  readonly details: ErrorDetails<C>

  constructor(code: C, ...[details, options]: Rest<C>) {
    const given = Object.fromEntries(
      Object.entries(details ?? {}).map(([name, value]) => [name, shortened(value)]),
    ) as ErrorDetails<C>
    super(entryOf(code).text(given), options)
    this.name = 'AppError'
    this.code = code
    this.details = given
  }

  /** Types `instanceof`, which would otherwise leave the code `any`. */
  static override [Symbol.hasInstance](value: unknown): value is AppError {
    return Function.prototype[Symbol.hasInstance].call(AppError, value)
  }

  /** HTTP status of the answer. */
  get status(): number {
    return entryOf(this.code).http
  }

  /** gRPC status of the refusal between services. */
  get grpcStatus(): number {
    return entryOf(this.code).grpc
  }

  /** Shape of the body. */
  get shape(): Shape {
    return entryOf(this.code).shape
  }

  /** Dotted path of the invalid field, if there is one. */
  get path(): string | undefined {
    const { path } = entryOf(this.code)
    if (path !== undefined) return path
    return 'path' in this.details ? (this.details.path as string) : undefined
  }

  /** JSON body of the answer; null if the answer is plain text (401). */
  get body(): Record<string, unknown> | null {
    const { shape, oauth } = entryOf(this.code)
    if (shape === 'text') return null
    if (shape === 'oauth') return { error: oauth, error_description: plainText(this.message) }
    if (shape === 'success') return { success: false, message: this.message }
    return { error: true, message: this.message, ...(this.path !== undefined && { path: this.path }) }
  }
}

/** Cuts a text that is too long, and texts in a list. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened)
  if (typeof value !== 'string' || value.length <= MAX_TEXT_LENGTH) return value
  return `${value.slice(0, MAX_TEXT_LENGTH)}…`
}

/** Replaces quotes, backslashes and everything but visible ASCII, for headers and OAuth descriptions. */
export function plainText(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, "'")
}

/** The code that replaces an unknown one, by gRPC status. */
const unknownCodes: Readonly<Record<number, ErrorCode>> = {
  [status.INVALID_ARGUMENT]: 'request.refused',
  [status.UNAUTHENTICATED]: 'credential.refused',
  [status.PERMISSION_DENIED]: 'access.refused',
  [status.NOT_FOUND]: 'record.not_found',
  [status.ALREADY_EXISTS]: 'record.conflict',
  [status.RESOURCE_EXHAUSTED]: 'quota.refused',
}

/**
 * Returns the refusal that another service wrote. A code that is not in the catalogue, or whose details do not match,
 * becomes the general refusal of its gRPC status.
 */
export function reviveError(written: unknown, grpcStatus: number = status.UNAVAILABLE): AppError {
  try {
    const { code, details = {} } = written as { code: unknown; details?: unknown }
    if (isErrorCode(code)) return anyError(code, details)
  } catch {
    // Another release may write other details.
  }
  return anyError(unknownCodes[grpcStatus] ?? 'service.unavailable', {})
}

function anyError(code: ErrorCode, details: unknown): AppError {
  return new AppError<ErrorCode>(code, details as ErrorDetails<ErrorCode>)
}

/** Returns anything thrown as a refusal. Anything unexpected becomes `service.unavailable`, with the original as cause. */
export function toAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('service.unavailable', {}, { cause: thrown })
}
