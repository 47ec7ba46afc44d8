import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, type Route, toAppError } from '@rollcall/contract'
import type { Logger } from '@rollcall/runtime'
import { answerShort, commonHeaders } from './answer.ts'
import { noCache, oauthRefusal, type Refusal } from './carriers/oauth.ts'
import type { Exchange, Header } from './exchange.ts'

const RETRY_AFTER_SECONDS = 2

/** Answers with the error that was thrown, in its declared shape and without internal details. */
export function answerProblem(exchange: Exchange, thrown: unknown, logger: Logger): void {
  const error = toAppError(thrown)
  if (!recordFailure(exchange, error, logger)) return
  const refusal = refusalOf(error, exchange.match?.route)
  exchange.headers = headersOf(error, refusal)
  answerShort(exchange, refusal.status, bytesOf(refusal))
}

/** Records and logs the error of an exchange. Returns whether it can still be answered; else closes the connection. */
export function recordFailure(exchange: Exchange, error: AppError, logger: Logger): boolean {
  exchange.failure = error
  if (exchange.isAborted) return false
  if (error.status === 503) {
    const { id: requestId, match } = exchange
    logger.error({ requestId, route: match?.route.path, err: error.cause ?? error }, 'request failed')
  }
  if (exchange.response.headersSent) exchange.response.destroy()
  return !exchange.response.headersSent
}

function refusalOf(error: AppError, route?: Route): Refusal {
  return (route && oauthRefusal(error, route)) ?? error
}

function bytesOf({ body }: Refusal) {
  if (body === null) return { contentType: 'text/plain; charset=utf-8', data: Buffer.from('Unauthorized') }
  return { contentType: 'application/json; charset=utf-8', data: Buffer.from(JSON.stringify(body)) }
}

/** Returns the headers of a refusal: its code, and when to retry or how to authenticate. */
export function headersOf(error: AppError, refusal: Refusal): Header[] {
  return [...adviceOf(error, refusal), ['X-Error-Code', error.code]]
}

function adviceOf(error: AppError, { status }: Refusal): Header[] {
  if (status === 503) return [['Retry-After', String(RETRY_AFTER_SECONDS)]]
  if ('retryAfterSeconds' in error.details) return [['Retry-After', String(error.details.retryAfterSeconds)]]
  if (status !== 401) return []
  if (error.shape === 'oauth') return [['WWW-Authenticate', 'Basic realm="rollcall"'], noCache]
  return [['WWW-Authenticate', `Bearer error="invalid_token", error_description="${error.message}"`]]
}

/**
 * Answers what Node cannot parse as a request: broken syntax, or a head that is too large or too slow. Closes the
 * connection without an answer if another answer is in progress or the client has left.
 * @param current the latest exchange of the connection
 */
export function answerUnreadable(
  socket: Socket,
  code: string | undefined,
  current: { request: IncomingMessage; response: ServerResponse } | undefined,
): void {
  const isBusy =
    current && !current.response.writableEnded && (current.request.complete || current.response.headersSent)
  if (isBusy || code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const error = new AppError(unreadable[code ?? ''] ?? 'request.malformed')
  const { contentType, data } = bytesOf(error)
  const headers: Header[] = [
    ['Content-Type', contentType],
    ['Content-Length', String(data.length)],
    ['Connection', 'close'],
    ['Date', new Date().toUTCString()],
    ['X-Request-Id', randomUUID()],
    ['X-Error-Code', error.code],
    ...commonHeaders,
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${data}`)
}

const unreadable: Record<string, 'request.head_too_large' | 'request.too_slow'> = {
  HPE_HEADER_OVERFLOW: 'request.head_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request.too_slow',
}
