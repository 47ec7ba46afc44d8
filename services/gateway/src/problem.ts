import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { AppError, plainText, type Route, speaksOAuth, toAppError } from '@rollcall/contract'
import type { Logger } from '@rollcall/runtime'
import { answer, commonHeaders } from './answer.ts'
import type { Exchange, Header } from './exchange.ts'
import { asOAuthError, noCache } from './routes/oauth.ts'

const retryAfterSeconds = 2

/** Ends an exchange with what was thrown: one of the declared shapes, and nothing of what happened inside. */
export function answerProblem(exchange: Exchange, thrown: unknown, logger: Logger): void {
  const error = asRouteError(exchange.match?.route, toAppError(thrown))
  exchange.failure = error
  if (exchange.isAborted) return
  if (error.status === 503) {
    const route = exchange.match?.route.path
    logger.error({ requestId: exchange.id, route, err: error.cause ?? error }, 'request failed')
  }
  if (exchange.response.headersSent) {
    exchange.response.destroy()
    return
  }
  exchange.headers = headersOf(error)
  answer(exchange, error.status, bodyOf(error))
}

function asRouteError(route: Route | undefined, error: AppError): AppError {
  return route && speaksOAuth(route) ? asOAuthError(error, route) : error
}

function bodyOf(error: AppError) {
  if (error.body === null) return { contentType: 'text/plain; charset=utf-8', data: Buffer.from('Unauthorized') }
  return { contentType: 'application/json; charset=utf-8', data: Buffer.from(JSON.stringify(error.body)) }
}

function headersOf(error: AppError): Header[] {
  if (error.status === 503) return [['Retry-After', String(retryAfterSeconds)]]
  if ('retryAfterSeconds' in error.details) return [['Retry-After', String(error.details.retryAfterSeconds)]]
  if (error.code === 'invalid_client') return [['WWW-Authenticate', 'Basic realm="rollcall"'], noCache]
  if (error.status !== 401) return []
  return [['WWW-Authenticate', `Bearer error="invalid_token", error_description="${plainText(error.message)}"`]]
}

/**
 * Answers what Node could not read as a request: broken syntax, a head that is too large or never ends. Where another
 * answer is under way on the connection, or the client is gone, there is nothing left to say.
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
  const error = new AppError('bad_request', { message: unreadable[code ?? ''] ?? 'malformed HTTP request' })
  const { contentType, data } = bodyOf(error)
  const headers: Header[] = [
    ['Content-Type', contentType],
    ['Content-Length', String(data.length)],
    ['Connection', 'close'],
    ['Date', new Date().toUTCString()],
    ['X-Request-Id', randomUUID()],
    ...commonHeaders,
  ]
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${data}`)
}

const unreadable: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'request head too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request took too long to arrive',
}
