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

/** Begins to connect the account of a sender: remembers who asked, and answers where to send the person. */
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

/** Where a browser goes on to that the provider sent back, with what it brought. */
export function returnUrl(
  { config }: Pick<Context, 'config'>,
  { provider, state, code, iss, error, errorDescription }: ReturnSenderOauthRequest,
): string {
  const url = new URL(`${(config.CONSOLE_URL ?? config.PUBLIC_URL).replace(/\/$/, '')}/connect-account`)
  const brought = { provider, code, state, iss, error, error_description: errorDescription }
  for (const [name, value] of Object.entries(brought)) if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/**
 * Connects the account with what its provider sent back, once. Only the session that began it can: nobody can have another
 * person's account connected to a sender of their own.
 */
export async function finishOauth(context: Context, answer: FinishSenderOauthRequest, caller: Caller): Promise<void> {
  const { provider, sender: id, verifier, ...place } = await takeRequest(context, answer, caller)
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

/** The request that a state belongs to; nobody finds it a second time. */
async function takeRequest(
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

/** Mail goes out as the sender's address: its account has to be the one connected, or its domain the organization's. */
async function requireOwnAddress(context: Context, sender: Sender, account: string | null): Promise<void> {
  if (account !== null && emailKeyOf(account) === sender.emailKey) return
  const { domains } = context.collections.of(sender.organization)
  if (await domains.findOne({ domain: sender.domain, verified: true })) return
  throw new AppError('connection.other_address', { account, sender: sender.email, domain: sender.domain })
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url')
}
