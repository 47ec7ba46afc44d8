import type { Context } from '../context.ts'
import { DeliveryError } from '../mail/delivery-error.ts'
import { AccountRefused, type AccountTokens } from './oauth-accounts.ts'
import { secretPlace } from './secret-places.ts'
import type { OauthProvider, Sender } from './sender.model.ts'

/** Credentials for the mail server of a connected account. */
export type Access = { provider: OauthProvider; user: string; accessToken: string }

/** A token that expires sooner than this is renewed before use. */
const MARGIN_MS = 60_000

/**
 * Returns the access token of a sender's account, renewed if it has expired.
 * @throws {DeliveryError} failed
 */
export async function accessTokenOf(context: Context, sender: Sender): Promise<Access> {
  const { oauth, oauthTokens, email } = sender
  if (!oauth || !oauthTokens || oauth.status !== 'connected') {
    throw new DeliveryError('failed', 'the account is not connected')
  }
  const stored = JSON.parse(context.secrets.open(oauthTokens, secretPlace.tokens(sender))) as AccountTokens
  const tokens = stored.expiresAt - MARGIN_MS > Date.now() ? stored : await renew(context, sender, stored)
  return { provider: oauth.provider, user: oauth.email ?? email, accessToken: tokens.accessToken }
}

async function renew(context: Context, sender: Sender, { refreshToken }: AccountTokens): Promise<AccountTokens> {
  const { _id, organization, oauth } = sender
  const { senders } = context.collections.of(organization)
  try {
    if (refreshToken === null) throw new AccountRefused('the account granted access only once')
    const tokens = await context.accounts.refresh(oauth!.provider, refreshToken)
    const oauthTokens = context.secrets.seal(JSON.stringify(tokens), secretPlace.tokens(sender))
    await senders.updateOne({ _id }, { $set: { oauthTokens } })
    return tokens
  } catch (error) {
    if (!(error instanceof AccountRefused)) throw error
    await senders.updateOne({ _id }, { $set: { 'oauth.status': 'expired', oauthTokens: null } })
    throw new DeliveryError('failed', `the account has to be connected again: ${error.message}`, { cause: error })
  }
}
