import { createHash, randomBytes } from 'node:crypto'
import type {
  FinishSenderOauthRequest,
  StartSenderOauthRequest,
  StartSenderOauthResponse,
} from '@rollcall/protos/gen/messaging-v1.ts'
import { AppError, type Caller, serviceCaller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import { randomPKCECodeVerifier } from 'openid-client'
import type { Context } from '../context.ts'
import { changeSender } from './change-sender.ts'
import { AccountRefused } from './oauth-accounts.ts'
import type { OauthRequest } from './oauth-request.model.ts'
import { senderFor } from './rights.ts'
import { secretPlace } from './secret-places.ts'

const VALID_MS = 10 * 60_000

/** Begins to connect the account of a sender: remembers who asked, and answers where to send the person. */
export async function startOauth(
  context: Context,
  { provider, sender: id }: StartSenderOauthRequest,
  caller: Caller,
): Promise<StartSenderOauthResponse> {
  const sender = await senderFor(context, 'connect', id, caller)
  if (caller.kind !== 'session' || !caller.sessionId) {
    throw new AppError('forbidden', { message: 'Only a person who is signed in can connect an account.' })
  }
  if (sender.oauth?.provider !== provider) {
    throw new AppError('invalid_field', { path: 'sender', reason: `does not deliver by a ${provider} account` })
  }
  if (!context.accounts.isConfigured(provider)) {
    throw new AppError('refused', { message: `this installation is not registered at ${provider}` })
  }
  const state = randomBytes(32).toString('base64url')
  const verifier = randomPKCECodeVerifier()
  const url = await context.accounts.consentUrl(provider, { state, verifier, email: sender.email })
  const place = { organization: sender.organization, hash: hashOf(state) }
  await context.of(caller).oauthRequests.insertOne({
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

/**
 * Takes what the provider sent a person back with. It counts once, in the session that asked for it: that session must
 * still be alive, and where the browser is signed in it must be that very session, so that nobody can have another person
 * connect an account for them.
 */
export async function finishOauth(context: Context, answer: FinishSenderOauthRequest, browser: Caller): Promise<void> {
  const request = await takeRequest(context, answer.state)
  const isOther = browser.sessionId !== undefined && browser.sessionId !== request?.session
  if (!request || request.provider !== answer.provider || isOther) throw unusable()
  const caller = await requireSession(context, request)
  const { provider, sender: id, verifier } = request
  const sender = await senderFor(context, 'connect', String(id), caller)
  const { code, iss, state } = answer
  if (code === undefined) throw refused(provider, answer.errorDescription ?? answer.error ?? 'no code came back')
  const opened = context.secrets.open(verifier, secretPlace.verifier(request))
  const { email, tokens } = await context.accounts
    .redeem(provider, { code, iss, state, verifier: opened })
    .catch(error => {
      throw error instanceof AccountRefused ? refused(provider, error.message) : error
    })
  const oauth = { provider, email, connectedAt: new Date(), status: 'connected' }
  const oauthTokens = context.secrets.seal(JSON.stringify(tokens), secretPlace.tokens(sender))
  await changeSender(context, 'connect', { id: String(id), caller }, () => ({ $set: { oauth, oauthTokens } }))
}

/** The request that a state belongs to; nobody finds it a second time. */
async function takeRequest({ models }: Context, state: string): Promise<OauthRequest | null> {
  const request = await models.oauthRequests
    .findOne({ hash: hashOf(state), expiresAt: { $gt: new Date() } })
    .lean<OauthRequest>()
  if (!request) return null
  const { deletedCount } = await models.oauthRequests.deleteOne({ _id: request._id })
  return deletedCount === 1 ? request : null
}

/** The person whose session the request began in, if that has not ended. */
async function requireSession(
  { credentials }: Context,
  { organization, session, user }: OauthRequest,
): Promise<Caller> {
  const organizationId = String(organization)
  const service = serviceCaller('messaging', organizationId)
  const question = { organizationId, sessionId: session, userId: String(user) }
  await credentials.resolveSession(question, { caller: service }).catch(error => {
    const isOver = error instanceof AppError && [401, 403].includes(error.status)
    throw isOver ? unusable() : error
  })
  return { ...service, kind: 'session', userId: String(user), sessionId: session }
}

function hashOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url')
}

function refused(provider: string, reason: string): AppError {
  return new AppError('refused', { message: `${provider}: ${reason}` })
}

function unusable(): AppError {
  return new AppError('refused', {
    message: 'the request to connect an account has expired, was used, or is not yours',
  })
}
