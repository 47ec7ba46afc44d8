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

/** OAuth tokens of an account. `expiresAt` is in milliseconds since the epoch. */
export type AccountTokens = { accessToken: string; refreshToken: string | null; expiresAt: number }

/** Thrown if a provider refuses: consent was denied or revoked, or the response is forged. */
export class AccountRefused extends Error {
  override name = 'AccountRefused'
}

/** Connects mail accounts through their OpenID providers. */
export type OauthAccounts = {
  /** Whether this installation is registered at the provider. */
  isConfigured(provider: OauthProvider): boolean
  /** Returns the URL of the consent page. */
  consentUrl(provider: OauthProvider, request: { state: string; verifier: string; email: string }): Promise<string>
  /** Exchanges the provider's authorization code for tokens. @throws {AccountRefused} */
  redeem(
    provider: OauthProvider,
    answer: { code: string; iss?: string | undefined; state: string; verifier: string },
  ): Promise<{ email: string | null; tokens: AccountTokens }>
  /** Renews the tokens. @throws {AccountRefused} if the consent is no longer valid */
  refresh(provider: OauthProvider, refreshToken: string): Promise<AccountTokens>
}

const scopes: Record<OauthProvider, string> = {
  google: 'openid email https://mail.google.com/',
  microsoft: 'openid email offline_access https://outlook.office.com/SMTP.Send',
}
/** Additional parameters. Google returns a refresh token only with these. */
const extras: Record<OauthProvider, Record<string, string>> = {
  google: { access_type: 'offline', prompt: 'consent' },
  microsoft: { prompt: 'select_account' },
}
/**
 * Error codes of responses for another issuer or client, or altered ones. Other codes are failures of the connection.
 */
const forgeries: unknown[] = ['OAUTH_INVALID_RESPONSE', 'OAUTH_JWT_CLAIM_COMPARISON_FAILED']

/** Creates the accounts. Discovers each configured provider at its first use. */
export function createOauthAccounts(config: Config): OauthAccounts {
  const known = new Map<OauthProvider, Promise<Configuration>>()
  const configurationOf = (provider: OauthProvider): Promise<Configuration> => {
    const pending = known.get(provider) ?? discover(settingsOf(config, provider))
    known.set(provider, pending)
    pending.catch(() => known.delete(provider)) // retried by the next call
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
  const isPlain = url.protocol === 'http:' // only if the operator configures it, for a provider in the same network
  return discovery(url, clientId, clientSecret, undefined, isPlain ? { execute: [allowInsecureRequests] } : undefined)
}

/** Converts OAuth errors of the provider to refusals. Other errors may be temporary. */
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

/** Rethrows. A response that is not from the provider is a refusal, because a retry would not help. */
function refuseForged(error: unknown): never {
  if (!(error instanceof ClientError && forgeries.includes(error.code))) throw error
  throw new AccountRefused('the response does not belong to this request', { cause: error })
}

function tokensOf(granted: TokenEndpointResponse & TokenEndpointResponseHelpers): AccountTokens {
  const { access_token: accessToken, refresh_token: refreshToken = null } = granted
  return { accessToken, refreshToken, expiresAt: Date.now() + (granted.expiresIn() ?? 300) * 1000 }
}
