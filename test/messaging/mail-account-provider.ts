import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A double of an OpenID provider such as Google or Microsoft: discovery, codes with PKCE, refresh tokens. */
export type AccountProvider = {
  issuer: string
  /** Requests to the token endpoint, in order. */
  asked: Record<string, string>[]
  /** Lifetime of access tokens in seconds. */
  lifetimeSeconds: number
  /** The latest access token, which a mail server accepts. */
  accessToken: string
  /** Whether the consent was revoked, so that refreshing fails. */
  isRevoked: boolean
  /** Returns the parameters that a user is redirected back with after consenting at this URL. */
  consent(url: string): string
  stop(): Promise<void>
}

const clientId = 'client of the tests'

/** Starts the provider. The user who consents has this email. */
export async function startAccountProvider(email: string): Promise<AccountProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, { challenge: string; redirectUri: string }>()

  const grant = () => {
    provider.accessToken = `access-${randomBytes(6).toString('hex')}`
    const claims = { iss: provider.issuer, aud: clientId, sub: '1', email, ...times() }
    return {
      access_token: provider.accessToken,
      token_type: 'Bearer',
      expires_in: provider.lifetimeSeconds,
      refresh_token: 'refresh',
      id_token: signed(claims, privateKey),
    }
  }
  const answerToken = (form: Record<string, string>): [status: number, body: object] => {
    provider.asked.push(form)
    const refused = (error: string): [number, object] => [400, { error, error_description: `${error} said` }]
    if (form.grant_type === 'refresh_token') return provider.isRevoked ? refused('invalid_grant') : [200, grant()]
    const asked = codes.get(form.code ?? '')
    codes.delete(form.code ?? '')
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url')
    const isGood = asked?.challenge === challenge && asked.redirectUri === form.redirect_uri
    return isGood ? [200, grant()] : refused('invalid_grant')
  }
  const answer = async (request: IncomingMessage): Promise<[status: number, body: object]> => {
    const { issuer } = provider
    if (request.url === '/.well-known/openid-configuration') {
      return [
        200,
        {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          authorization_response_iss_parameter_supported: true,
        },
      ]
    }
    if (request.url === '/keys')
      return [200, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256' }] }]
    if (request.url !== '/token') return [404, {}]
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    return answerToken(Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())))
  }

  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: AccountProvider = {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    lifetimeSeconds: 3600,
    accessToken: '',
    isRevoked: false,
    consent(url) {
      const { searchParams } = new URL(url)
      const code = randomBytes(8).toString('hex')
      const read = (name: string) => searchParams.get(name) ?? ''
      codes.set(code, { challenge: read('code_challenge'), redirectUri: read('redirect_uri') })
      const back = new URL(read('redirect_uri'))
      const { issuer: iss } = provider
      back.search = String(
        new URLSearchParams({ state: read('state'), iss, code, scope: read('scope'), authuser: '0' }),
      )
      return back.pathname + back.search
    },
    stop: async () => void server.close().closeAllConnections(),
  }
  return provider
}

function times() {
  const now = Math.floor(Date.now() / 1000)
  return { iat: now, exp: now + 600 }
}

function signed(claims: object, key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', kid: '1' })}.${part(claims)}`
  return `${text}.${createSign('sha256').update(text).sign(key, 'base64url')}`
}
