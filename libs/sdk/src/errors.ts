import type { ErrorCode } from './gen/types.ts'

/** What is known of an error. */
export type ErrorDetails = {
  status: number
  code?: ErrorCode | (string & {}) | undefined
  path?: string | undefined
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** An error of a call: a refusal of the API, or no answer. */
export class RollcallError extends Error {
  override name = 'RollcallError'
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** The header X-Error-Code: record.duplicate. */
  readonly code: ErrorCode | (string & {}) | undefined
  /** The field that is wrong: attributes.company. */
  readonly path: string | undefined
  /** The request's id in the logs. */
  readonly requestId: string | undefined
  /** When to try again. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, { status, code, path, requestId, retryAfterMs, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.path = path
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}

/** 400: a field is missing, unknown or invalid; see `path`. */
export class BadRequestError extends RollcallError {
  override name = 'BadRequestError'
}
/** 401: no valid credential. */
export class UnauthorizedError extends RollcallError {
  override name = 'UnauthorizedError'
}
/** 403: the caller may not do this. */
export class ForbiddenError extends RollcallError {
  override name = 'ForbiddenError'
}
/** 404: no such record. */
export class NotFoundError extends RollcallError {
  override name = 'NotFoundError'
}
/** 409: a duplicate value (see `path`), or a conflict with another record or request (see `code`). */
export class ConflictError extends RollcallError {
  override name = 'ConflictError'
}
/** 429: too many requests; see `retryAfterMs`. */
export class RateLimitError extends RollcallError {
  override name = 'RateLimitError'
}
/** 502, 503 or 504: the API, or something it depends on, is unavailable. */
export class UnavailableError extends RollcallError {
  override name = 'UnavailableError'
}
/** No answer, or not a whole one. */
export class ConnectionError extends RollcallError {
  override name = 'ConnectionError'
}
/** No answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}

const classes: Record<number, typeof RollcallError> = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
}

/** Returns the error of a response of the API at an address. Reads the body. */
export async function errorOf(response: Response, address: string): Promise<RollcallError> {
  const { status, statusText, headers } = response
  const body = parse(await response.text().catch(() => ''))
  const reason = headers.get('www-authenticate')?.match(/error_description="([^"]*)"/)?.[1]
  const message =
    reason ?? body.message ?? body.error_description ?? `${address} answers ${status} ${statusText}`.trimEnd()
  return new (classes[status] ?? RollcallError)(message, {
    status,
    code: headers.get('x-error-code') ?? undefined,
    path: body.path,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterOf(headers.get('retry-after')),
  })
}

type Refusal = { message?: string; path?: string; error_description?: string }

function parse(text: string): Refusal {
  try {
    return (JSON.parse(text) as Refusal | null) ?? {}
  } catch {
    return {} // from a proxy in front of the API
  }
}

/** Reads Retry-After: seconds, or a date. */
function retryAfterOf(text: string | null): number | undefined {
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
