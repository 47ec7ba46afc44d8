import { createHash, randomBytes } from 'node:crypto'
import { AppError, emailKeyOf } from '@rollcall/contract'
import type {
  FinishSenderOauthRequest,
  ReturnSenderOauthRequest,
  StartSenderOauthRequest,
  StartSenderOauthResponse,
} from '@rollcall/protos/gen/messaging-v1.ts'
import type { Caller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import { randomPKCECodeVerifier } from 'openid-client'
import type { Context } from '../context.ts'
import { changeSender } from './change-sender.ts'
import { AccountRefused } from './oauth-accounts.ts'
import type { OauthRequest } from './oauth-request.model.ts'
import { senderFor } from './rights.ts'
import { secretPlace } from './secret-places.ts'
import type { Sender } from './sender.model.ts'

const VALID_MS = 10 * 60_000

/**
 * Starts to connect the account of a sender. Stores the request, and returns the URL of the provider's consent page.
 */
export async function startOauth(
  context: Context,
  { provider, sender: id }: StartSenderOauthRequest,
  caller: Caller,
): Promise<StartSenderOauthResponse> {
  const sender = await senderFor(context, 'connect', id, caller)
  if (caller.kind !== 'session' || !caller.sessionId) {
    throw new AppError('connection.session_required')
  }
  if (caller.readOnly) throw new AppError('access.read_only')
  if (sender.oauth?.provider !== provider) {
    throw new AppError('connection.other_delivery', { provider })
  }
  if (!context.accounts.isConfigured(provider)) {
    throw new AppError('connection.not_offered', { provider })
  }
  const state = randomBytes(32).toString('base64url')
  const verifier = randomPKCECodeVerifier()
  const url = await context.accounts.consentUrl(provider, { state, verifier, email: sender.email })
  const place = { organization: sender.organization, hash: hashOf(state) }
  await context.collections.of(caller.organizationId).oauthRequests.insertOne({
    hash: place.hash,
    verifier: context.secrets.seal(verifier, secretPlace.verifier(place)),
    provider,
    sender: sender._id,
    session: caller.sessionId,
    user: objectId(caller.userId),
    expiresAt: new Date(Date.now() + VALID_MS),
  })
  return { url }
}

/** Returns the URL to redirect a browser to when it returns from the provider, with the provider's parameters. */
export function returnUrl(
  { config }: Pick<Context, 'config'>,
  { provider, state, code, iss, error, errorDescription }: ReturnSenderOauthRequest,
): string {
  const url = new URL(`${(config.CONSOLE_URL ?? config.PUBLIC_URL).replace(/\/$/, '')}/connect-account`)
  const params = { provider, code, state, iss, error, error_description: errorDescription }
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/**
 * Connects the account with the provider's response, once. Only the session that started can do this, so that nobody
 * can connect another person's account to their own sender.
 */
export async function finishOauth(context: Context, answer: FinishSenderOauthRequest, caller: Caller): Promise<void> {
  const { provider, sender: id, verifier, ...place } = await consumeRequest(context, answer, caller)
  const sender = await senderFor(context, 'connect', String(id), caller)
  const { code, iss, state } = answer
  const opened = context.secrets.open(verifier, secretPlace.verifier(place))
  const { email, tokens } = await context.accounts
    .redeem(provider, { code, iss, state, verifier: opened })
    .catch(error => {
      throw error instanceof AccountRefused
        ? new AppError('connection.refused', { provider, reply: error.message })
        : error
    })
  await requireOwnAddress(context, sender, email)
  const oauth = { provider, email, connectedAt: new Date(), status: 'connected' }
  const oauthTokens = context.secrets.seal(JSON.stringify(tokens), secretPlace.tokens(sender))
  await changeSender(context, 'connect', { id: String(id), caller }, () => ({ $set: { oauth, oauthTokens } }))
}

/** Returns the request of a state and deletes it, so that it is used once. */
async function consumeRequest(
  { collections }: Context,
  { provider, state }: FinishSenderOauthRequest,
  { sessionId }: Caller,
): Promise<OauthRequest> {
  const request = await collections.unscoped.oauthRequests
    .findOne({ hash: hashOf(state), provider, expiresAt: { $gt: new Date() } })
    .lean<OauthRequest>()
  if (!request) throw new AppError('connection.expired')
  if (request.session !== sessionId) {
    throw new AppError('connection.other_session')
  }
  const { deletedCount } = await collections.unscoped.oauthRequests.deleteOne({ _id: request._id })
  if (deletedCount === 0) throw new AppError('connection.expired')
  return request
}

/** Requires that the account has the sender's address, or that the organization has verified the address's domain. */
async function requireOwnAddress(context: Context, sender: Sender, account: string | null): Promise<void> {
  if (account !== null && emailKeyOf(account) === sender.emailKey) return
  const { domains } = context.collections.of(sender.organization)
  if (await domains.findOne({ domain: sender.domain, verified: true })) return
  throw new AppError('connection.other_address', { account, sender: sender.email, domain: sender.domain })
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url')
}
