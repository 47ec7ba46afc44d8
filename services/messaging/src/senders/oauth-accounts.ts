import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  ResponseBodyError,
  refreshTokenGrant,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client'
import type { Config } from '../config.ts'
import type { OauthProvider } from './sender.model.ts'

/** What an account lets us send with. `expiresAt` in milliseconds since the epoch. */
export type AccountTokens = { accessToken: string; refreshToken: string | null; expiresAt: number }

/** What a provider said no to: consent was refused or taken back, or the request was none of ours. */
export class AccountRefused extends Error {
  override name = 'AccountRefused'
}

/** The mail accounts that people can connect, by the OpenID provider of each. */
export type OauthAccounts = {
  /** Whether this installation is registered at the provider. */
  isConfigured(provider: OauthProvider): boolean
  /** Where to send a person who is to consent. */
  consentUrl(provider: OauthProvider, request: { state: string; verifier: string; email: string }): Promise<string>
  /** Trades what the provider sent back for tokens. @throws {AccountRefused} */
  redeem(
    provider: OauthProvider,
    answer: { code: string; iss?: string | undefined; state: string; verifier: string },
  ): Promise<{ email: string | null; tokens: AccountTokens }>
  /** New tokens for old ones. @throws {AccountRefused} where the consent no longer holds */
  refresh(provider: OauthProvider, refreshToken: string): Promise<AccountTokens>
}

const scopes: Record<OauthProvider, string> = {
  google: 'openid email https://mail.google.com/',
  microsoft: 'openid email offline_access https://outlook.office.com/SMTP.Send',
}
/** Google gives a refresh token only to whoever asks for it so. */
const extras: Record<OauthProvider, Record<string, string>> = {
  google: { access_type: 'offline', prompt: 'consent' },
  microsoft: { prompt: 'select_account' },
}
/** Codes of answers that speak of another issuer or client, or were altered; the other ones tell of the way there. */
const forgeries: unknown[] = ['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED']

/** Connects to the providers that are configured, each when it is first needed. */
export function createOauthAccounts(config: Config): OauthAccounts {
  const known = new Map<OauthProvider, Promise<Configuration>>()
  const configurationOf = (provider: OauthProvider): Promise<Configuration> => {
    const pending = known.get(provider) ?? discover(settingsOf(config, provider))
    known.set(provider, pending)
    pending.catch(() => known.delete(provider)) // asked again the next time
    return pending
  }
  const redirectUri = (provider: OauthProvider) =>
    `${config.PUBLIC_URL.replace(/\/$/, '')}/api/emails/senders/oauth/${provider}/callback`

  return {
    isConfigured: provider => settingsOf(config, provider).clientId !== undefined,

    async consentUrl(provider, { state, verifier, email }) {
      const url = buildAuthorizationUrl(await configurationOf(provider), {
        ...extras[provider],
        redirect_uri: redirectUri(provider),
        scope: scopes[provider],
        state,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        login_hint: email,
      })
      return url.href
    },

    async redeem(provider, { code, iss, state, verifier }) {
      const answer = new URL(redirectUri(provider))
      answer.search = String(new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) }))
      const configuration = await configurationOf(provider)
      const checks = { pkceCodeVerifier: verifier, expectedState: state }
      const granted = await translateRefusals(authorizationCodeGrant(configuration, answer, checks).catch(refuseForged))
      const claims = granted.claims()
      const isAddress = typeof claims?.email === 'string' && claims.email_verified !== false
      return { email: isAddress ? String(claims.email) : null, tokens: tokensOf(granted) }
    },

    async refresh(provider, refreshToken) {
      const granted = await translateRefusals(refreshTokenGrant(await configurationOf(provider), refreshToken))
      const tokens = tokensOf(granted)
      return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken }
    },
  }
}

type ProviderSettings = { issuer: string; clientId: string | undefined; clientSecret: string | undefined }

function settingsOf(config: Config, provider: OauthProvider): ProviderSettings {
  return provider === 'google'
    ? { issuer: config.GOOGLE_ISSUER, clientId: config.GOOGLE_CLIENT_ID, clientSecret: config.GOOGLE_CLIENT_SECRET }
    : {
        issuer: config.MICROSOFT_ISSUER,
        clientId: config.MICROSOFT_CLIENT_ID,
        clientSecret: config.MICROSOFT_CLIENT_SECRET,
      }
}

function discover({ issuer, clientId = '', clientSecret }: ProviderSettings): Promise<Configuration> {
  const url = new URL(issuer)
  const isPlain = url.protocol === 'http:' // only where the operator says so: a provider next door
  return discovery(url, clientId, clientSecret, undefined, isPlain ? { execute: [allowInsecureRequests] } : undefined)
}

/** What the provider answers with an error of OAuth is a refusal; everything else may be better the next time. */
async function translateRefusals<T>(grant: Promise<T>): Promise<T> {
  try {
    return await grant
  } catch (error) {
    if (error instanceof ResponseBodyError && error.status < 500) {
      throw new AccountRefused(error.error_description ?? error.error, { cause: error })
    }
    throw error
  }
}

/** Rethrows; an answer that cannot be the provider's own is a refusal: another try would not make it one. */
function refuseForged(error: unknown): never {
  if (!(error instanceof ClientError && forgeries.includes(error.code))) throw error
  throw new AccountRefused('what came back is not the answer to what was asked', { cause: error })
}

function tokensOf(granted: TokenEndpointResponse & TokenEndpointResponseHelpers): AccountTokens {
  const { access_token: accessToken, refresh_token: refreshToken = null } = granted
  return { accessToken, refreshToken, expiresAt: Date.now() + (granted.expiresIn() ?? 300) * 1000 }
}
