import { randomBytes } from 'node:crypto'
import { AppError, type HttpBody, json } from '@rollcall/contract'
import { generateSecret } from '@rollcall/credentials'
import type { RegisterClientRequest, RegisteredClientJson } from '@rollcall/protos/gen/identity-v1.ts'
import type { Context } from '../context.ts'
import { everyPermission } from '../roles/permissions.ts'
import { type Client, EXCHANGE_GRANT } from './client.model.ts'
import { readScope } from './scope.ts'

const UNUSED_HOURS = 24
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Registers a client (RFC 7591) and returns its metadata, including the secret.
 * @throws {AppError} client.redirect_uri_invalid, client.grant_types_invalid
 */
export async function registerClient(context: Context, request: RegisterClientRequest): Promise<HttpBody> {
  refuseUnusable(request)
  const { clientName = null, clientUri = null, redirectUris } = request
  const authMethod = request.tokenEndpointAuthMethod ?? 'client_secret_basic'
  const secret = authMethod === 'none' ? undefined : generateSecret()
  const client = await context.collections.unscoped.clients.create({
    clientId: randomBytes(16).toString('hex'),
    secretHash: secret === undefined ? null : context.secrets.client.hash(secret),
    name: clientName,
    uri: clientUri,
    redirectUris,
    authMethod,
    scope: request.scope === undefined ? null : readScope(request.scope, everyPermission, 'client'),
    expiresAt: new Date(Date.now() + UNUSED_HOURS * 3_600_000),
  })
  return json(present(client, secret))
}

/** Rejects unsafe redirect URIs and unsupported grants. */
function refuseUnusable({ redirectUris, grantTypes }: RegisterClientRequest): void {
  for (const [index, uri] of redirectUris.entries()) {
    if (!isRedirectUri(uri)) throw new AppError('client.redirect_uri_invalid', { index })
  }
  if (grantTypes.length > 0 && !grantTypes.includes(EXCHANGE_GRANT))
    throw new AppError('client.grant_types_invalid', { required: EXCHANGE_GRANT })
}

/** Whether a redirect URI is allowed (RFC 6749 §3.1.2; native apps: RFC 8252 §7). */
function isRedirectUri(text: string): boolean {
  if (!URL.canParse(text) || /[#\s]/.test(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  if (protocol === 'https:') return true
  if (protocol === 'http:') return loopback.has(hostname)
  return protocol.includes('.')
}

function present(client: Client, secret: string | undefined): RegisteredClientJson {
  const { clientId, name, uri, redirectUris, authMethod, scope, createdAt } = client
  return {
    client_id: clientId,
    ...(secret !== undefined && { client_secret: secret }),
    client_id_issued_at: Math.floor(createdAt.getTime() / 1000),
    ...(secret !== undefined && { client_secret_expires_at: 0 }),
    ...(name !== null && { client_name: name }),
    ...(uri !== null && { client_uri: uri }),
    redirect_uris: redirectUris,
    grant_types: [EXCHANGE_GRANT],
    response_types: [],
    token_endpoint_auth_method: authMethod,
    ...(scope !== null && { scope: scope.join(' ') }),
  }
}
