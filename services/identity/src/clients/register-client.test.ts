import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AppError } from '@rollcall/contract'
import { createSecretHashers } from '@rollcall/credentials'
import { type Harness, startHarness } from '../../test/identity.ts'

const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'

describe('registering a client', () => {
  let harness: Harness
  before(async () => {
    harness = await startHarness()
  })
  after(() => harness.stop())

  const none = { redirectUris: [], grantTypes: [], responseTypes: [] }
  const register = (request: object = {}) => harness.public.authentication.registerClient({ ...none, ...request })
  const stored = (clientId: unknown) => harness.db.collection('clients').findOne({ clientId })

  it('answers what was registered, with a secret that is shown this once', async () => {
    const redirectUris = ['https://console.example.com/back', 'http://127.0.0.1:8080/', 'com.example.app:/back']
    const before = Math.floor(Date.now() / 1000)
    const { client_id, client_secret, client_id_issued_at, ...rest } = await register({
      clientName: 'Nightly sync',
      clientUri: 'https://example.com',
      redirectUris,
      scope: 'audience.read audience.read links.read',
    })
    assert.match(String(client_id), /^[0-9a-f]{32}$/)
    assert.match(String(client_secret), /^\w{60}$/)
    assert.ok(Number(client_id_issued_at) >= before && Number(client_id_issued_at) <= Date.now() / 1000)
    assert.deepEqual(rest, {
      client_secret_expires_at: 0,
      client_name: 'Nightly sync',
      client_uri: 'https://example.com',
      redirect_uris: redirectUris,
      grant_types: [EXCHANGE_GRANT],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'audience.read links.read',
    })
    const client = await stored(client_id)
    assert.equal(client!.secretHash, createSecretHashers(harness.config.TOKEN_KEY).client.hash(String(client_secret)))
    assert.ok(!JSON.stringify(client).includes(String(client_secret)))
  })

  it('gives no secret to a client that cannot keep one', async () => {
    const client = await register({ tokenEndpointAuthMethod: 'none' })
    assert.ok(!('client_secret' in client) && !('client_secret_expires_at' in client))
    assert.equal(client.token_endpoint_auth_method, 'none')
  })

  it('forgets within a day who does not use it', async () => {
    const { client_id } = await register()
    const { expiresAt } = (await stored(client_id))!
    const hours = (expiresAt.getTime() - Date.now()) / 3_600_000
    assert.ok(hours > 23.9 && hours <= 24, `${hours} hours`)
    const indexes = await harness.db.collection('clients').indexes()
    assert.ok(indexes.some(({ key, expireAfterSeconds }) => key.expiresAt && expireAfterSeconds === 0))
  })

  for (const uri of [
    'back',
    '/back',
    'http://example.com/back',
    'https://example.com/back#here',
    'https://user:pass@example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    'myapp://back',
    'https://exa mple.com/',
    '',
  ]) {
    it(`refuses to redirect to ${uri || 'nothing'}`, async () => {
      await assert.rejects(register({ redirectUris: ['https://example.com/', uri] }), {
        code: 'client.redirect_uri_invalid',
        status: 400,
        body: { error: 'invalid_redirect_uri', error_description: 'invalid field -> redirect_uris.1' },
      })
    })
  }

  it('refuses grants that there are not, and scopes', async () => {
    const refused = (code: string) => (error: AppError) =>
      error.code === code && error.body?.error === 'invalid_client_metadata'
    const grantTypes = ['authorization_code']
    await assert.rejects(register({ grantTypes }), refused('client.grant_types_invalid'))
    await assert.rejects(register({ scope: 'audience.read audience.fly' }), refused('client.scope_exceeded'))
    await assert.rejects(register({ scope: ' ' }), refused('client.scope_empty'))
    await register({ grantTypes: ['authorization_code', EXCHANGE_GRANT] })
  })
})
