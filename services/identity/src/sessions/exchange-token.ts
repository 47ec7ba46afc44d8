import { AppError, type HttpBody, json } from '@rollcall/contract'
import { isAllowedAddress, parseCredential } from '@rollcall/credentials'
import type { ExchangeTokenRequest } from '@rollcall/protos/gen/identity-v1.ts'
import type { Call, Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import { authenticateClient } from '../clients/authenticate-client.ts'
import { type Client, EXCHANGE_GRANT } from '../clients/client.model.ts'
import { readScope } from '../clients/scope.ts'
import type { Context } from '../context.ts'
import { asPerson, publish } from '../events.ts'
import { everyPermission } from '../roles/permissions.ts'
import { reportRefused } from '../tokens/report-refused.ts'
import type { Token } from '../tokens/token.model.ts'
import { beginSession, seenOf } from './begin-session.ts'
import {
  type Credential,
  lifetimeWithin,
  type SessionCredential,
  sessionCredential,
  tokenCredential,
} from './credential.ts'

const MAX_LIFETIME_MS = 3_600_000
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
const tokenTypes = [ACCESS_TOKEN, JWT]

/**
 * Exchanges a credential for a JWT with a scope (RFC 8693). The JWT is a session that ends with the credential.
 * @throws {AppError} client.invalid, exchange.*, token.address_refused
 */
export async function exchangeToken(context: Context, request: ExchangeTokenRequest, call: Call): Promise<HttpBody> {
  const client = await authenticateClient(context, request)
  refuseUnsupported(request, context.audience)
  const subject = await subjectOf(context, request)
  if ('token' in subject) refuseForeignAddress(context, subject.token, call)
  const scope = scopeOf(request.scope, client, subject)
  const issued = await context.store.transaction(tx => issue(context, subject, { client, scope }, call.caller, tx))
  return json({
    access_token: issued.token,
    issued_token_type: request.requestedTokenType ?? ACCESS_TOKEN,
    token_type: 'Bearer',
    expires_in: Math.floor((issued.expiresAt.getTime() - Date.now()) / 1000),
    scope,
  })
}

/** Rejects unsupported request parameters (RFC 8693 §2.1), except those of the subject. */
function refuseUnsupported(request: ExchangeTokenRequest, audience: string): void {
  if (request.grantType !== EXCHANGE_GRANT)
    throw new AppError('exchange.grant_type_unsupported', { required: EXCHANGE_GRANT })
  if (request.actorToken !== undefined || request.actorTokenType !== undefined)
    throw new AppError('exchange.actor_unsupported')
  const requested = request.requestedTokenType ?? ACCESS_TOKEN
  if (!tokenTypes.includes(requested))
    throw new AppError('exchange.token_type_unsupported', { parameter: 'requested_token_type', allowed: tokenTypes })
  if (request.resource.length > 0 || request.audience.some(named => named !== audience))
    throw new AppError('exchange.audience_unknown', { audience })
}

/** Resolves the subject token. RFC 8693 §2.2.2 has one error for every invalid subject. */
async function subjectOf(
  context: Context,
  { subjectToken, subjectTokenType }: ExchangeTokenRequest,
): Promise<Credential> {
  if (subjectToken === undefined) throw new AppError('exchange.field_missing', { name: 'subject_token' })
  if (subjectTokenType === undefined) throw new AppError('exchange.field_missing', { name: 'subject_token_type' })
  if (!tokenTypes.includes(subjectTokenType))
    throw new AppError('exchange.token_type_unsupported', { parameter: 'subject_token_type', allowed: tokenTypes })
  const credential = parseCredential({ authorization: subjectToken })
  try {
    if (credential.kind === 'session') return await signInOf(context, credential.jwt)
    if (credential.kind === 'token' && subjectTokenType === ACCESS_TOKEN) {
      const { organizationId, secret } = credential
      const hash = { $in: context.secrets.token.hashes(secret) }
      return await context.store.readLatest(session =>
        tokenCredential(context.collections.of(organizationId, session), { hash }),
      )
    }
  } catch (error) {
    if (error instanceof AppError && (error.status === 401 || error.status === 403))
      throw new AppError('exchange.subject_refused', { refusal: error.message })
    throw error
  }
  if (credential.kind !== 'invalid') throw new AppError('exchange.subject_mistyped')
  throw new AppError('exchange.subject_refused', { refusal: new AppError(credential.code).message })
}

/** Rejects a token that may not be used from the address of the caller. */
function refuseForeignAddress(context: Context, { _id, organization, allowedIps }: Token, call: Call): void {
  if (isAllowedAddress(call.caller.ip ?? '', allowedIps ?? [])) return
  reportRefused(context, String(organization), { _id }, 'token.address_refused', call)
  throw new AppError('token.address_refused')
}

async function signInOf({ sessionJwt, collections, store }: Context, token: string): Promise<SessionCredential> {
  const claims = sessionJwt.verify(token)
  if (!claims) throw new AppError('exchange.subject_invalid')
  const credential = await store.readLatest(session =>
    sessionCredential(collections.of(claims.org, session), { id: claims.sid, user: claims.sub }),
  )
  if (credential.session.origin) throw new AppError('exchange.subject_exchanged')
  return credential
}

/** Returns the requested scope, or all pairs, limited to what both the client and the subject are allowed. */
function scopeOf(asked: string | undefined, client: Client, { authority: { permissions } }: Credential): string {
  const held = permissions === '*' ? everyPermission : permissions
  const allowed = client.scope === null ? held : held.filter(pair => client.scope?.includes(pair))
  return readScope(asked ?? allowed.join(' '), allowed, 'exchange').join(' ')
}

async function issue(
  context: Context,
  subject: Credential,
  { client, scope }: { client: Client; scope: string },
  caller: Caller,
  tx: ClientSession,
): Promise<{ token: string; expiresAt: Date }> {
  const { person } = subject
  const name = client.name ?? `Client ${client.clientId}`
  const { session, token, expiresAt } = await beginSession(
    context,
    person,
    caller,
    {
      lifetimeMs: lifetimeWithin(subject, MAX_LIFETIME_MS),
      device: { name, browser: '', os: '', type: 'unknown' },
      origin:
        'token' in subject ? { kind: 'token', id: subject.token._id } : { kind: 'session', id: subject.session._id },
      claims: { scope },
    },
    tx,
  )
  const { organization, _id, createdAt: at } = session
  const data = {
    userId: String(person._id),
    clientId: client.clientId,
    clientName: name,
    scope,
    ...seenOf(caller),
    at,
    expiresAt,
  }
  await publish(context, doerOf(subject, caller), 'session.exchanged', { organization, subject: _id, data }, tx)
  return { token, expiresAt }
}

function doerOf(subject: Credential, caller: Caller): Caller {
  const person = asPerson(caller, subject.person)
  if (!('token' in subject)) return person
  const { _id, name } = subject.token
  return { ...person, kind: 'token', tokenId: String(_id), tokenName: name }
}
