import { AppError, type OAuthError, plainText, type Route, speaksOAuth } from '@rollcall/contract'
import { isForm, readForm, readJson } from '../body.ts'
import type { Exchange, Header } from '../exchange.ts'

/** Parameters that may be given more than once (RFC 8693, 2.1). */
const repeatable = new Set(['audience', 'resource'])

/**
 * Reads a request of OAuth's token endpoint: a form or a JSON object, with the client's credentials in it or in
 * `Authorization: Basic` (RFC 6749, 2.3.1). Ignores other schemes of Authorization.
 * @throws {AppError} oauth.*, client.*, and as `readJson`
 */
export async function readOAuth(exchange: Exchange): Promise<unknown> {
  const { request } = exchange
  const client = basicClient(request.headers.authorization)
  const body = isForm(request) ? parametersOf(await readForm(exchange)) : inArrays(await readJson(exchange))
  if (typeof body !== 'object' || body === null) return body
  return client ? withClient(body as Record<string, unknown>, client) : body
}

/** Header of token endpoints for HTTP/1.0 caches (RFC 6749, 5.1). All answers have Cache-Control. */
export const noCache: Header = ['Pragma', 'no-cache']

/** Status and body of an error response. */
export type Refusal = { status: number; body: object | null }

/**
 * Returns an error as an OAuth error response (RFC 6749, 5.2). Returns undefined if it keeps its own shape: on other
 * routes, for limits and outages, and if it is an OAuth error already.
 */
export function oauthRefusal({ status, shape, message, path = '' }: AppError, route: Route): Refusal | undefined {
  if (!speaksOAuth(route) || shape === 'oauth' || (status !== 400 && status !== 401)) return undefined
  return { status: 400, body: { error: oauthCode(route, path), error_description: plainText(message) } }
}

function oauthCode({ carrier }: Route, path: string): OAuthError {
  if (carrier.problem === 'oauth_token') return 'invalid_request'
  return /^redirect_uris\b/.test(path) ? 'invalid_redirect_uri' : 'invalid_client_metadata'
}

/** Parses parameters. One without a value counts as not sent, and none may repeat (RFC 6749, 3.2). */
function parametersOf(form: URLSearchParams): Record<string, unknown> {
  const given = Map.groupBy(
    [...form].filter(([, value]) => value !== ''),
    ([name]) => name,
  )
  const repeated = [...given].find(([name, values]) => values.length > 1 && !repeatable.has(name))
  if (repeated) throw new AppError('oauth.repeated_parameter', { name: repeated[0] })
  const entries = [...given].map(([name, values]) => [name, values.map(([, value]) => value)] as const)
  return Object.fromEntries(entries.map(([name, values]) => [name, repeatable.has(name) ? values : values[0]]))
}

/** Puts a single value of a repeatable parameter in an array: JSON may give it without one. */
function inArrays(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const entries = Object.entries(body)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, repeatable.has(name) && typeof value === 'string' ? [value] : value]),
  )
}

type Client = { client_id: string; client_secret: string }

function withClient(body: Record<string, unknown>, client: Client): Record<string, unknown> {
  const hasTwoCredentials = 'client_secret' in body || ('client_id' in body && body.client_id !== client.client_id)
  if (hasTwoCredentials) throw new AppError('client.two_credentials')
  return { ...body, ...client }
}

function basicClient(authorization = ''): Client | undefined {
  const [, encoded] = /^basic\s+(.*)$/i.exec(authorization) ?? []
  if (encoded === undefined) return undefined
  const [id = '', ...rest] = Buffer.from(encoded, 'base64').toString().split(':')
  try {
    return { client_id: decoded(id), client_secret: decoded(rest.join(':')) }
  } catch {
    throw new AppError('client.malformed_authorization')
  }
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
