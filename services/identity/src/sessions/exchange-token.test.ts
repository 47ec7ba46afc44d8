import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AppError } from '@rollcall/contract'
import { anonymousCaller } from '@rollcall/rpc'
import { eventually } from '@rollcall/testing/eventually'
import { type Harness, type Json, PASSWORD, type Person, startHarness } from '../../test/identity.ts'

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'

describe('token exchange', () => {
  let harness: Harness
  let owner: Person
  let admin: Person
  let client: { clientId: string; clientSecret: string }
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
    admin = await harness.addPerson(owner.organizationId, 'admin')
    client = await register({ clientName: 'Nightly sync' })
  })
  after(() => harness.stop())

  const register = async (metadata: object = {}) => {
    const none = { redirectUris: [], grantTypes: [], responseTypes: [] }
    const made = await harness.public.authentication.registerClient({ ...none, ...metadata })
    return { clientId: String(made.client_id), clientSecret: String(made.client_secret) }
  }
  const requestOf = (subjectToken: string) => ({
    ...client,
    grantType: GRANT_TYPE,
    subjectToken,
    subjectTokenType: ACCESS_TOKEN,
    audience: [],
    resource: [],
  })
  const exchange = (subjectToken: string, fields: object = {}) =>
    harness.public.authentication.exchangeToken({ ...requestOf(subjectToken), ...fields })
  const traded = async (subjectToken: string, fields: object = {}) => {
    const { access_token } = await exchange(subjectToken, fields)
    return harness.with(String(access_token))
  }
  const claimsOf = (token: unknown) => JSON.parse(Buffer.from(String(token).split('.')[1]!, 'base64url').toString())
  const newToken = async (fields: object = {}, { api }: Person = admin) => {
    const { token, id } = await api.tokens.createToken({ name: 'mine', ...fields })
    return { token: String(token), id: String(id) }
  }
  const newSession = async (person: Person) => {
    const { token } = await harness.public.authentication.login({ email: person.email, password: PASSWORD })
    return { token: String(token), api: harness.with(String(token)) }
  }
  const docs = async (page: Promise<Json>) => (await page).docs as unknown as Json[]
  const refusal =
    (code: string, message = /./) =>
    (error: AppError) =>
      error.body?.error === code && message.test(error.message)

  it('answers a bearer token of the scope, for an hour at most', async () => {
    const { access_token, expires_in, ...rest } = await exchange(admin.credential, {
      scope: 'links.read audience.read',
    })
    assert.deepEqual(rest, { issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', scope: 'links.read audience.read' })
    assert.ok(Number(expires_in) > 3590 && Number(expires_in) <= 3600, String(expires_in))
    const { sub, org, scope, act, iat, exp } = claimsOf(access_token)
    assert.deepEqual(
      [sub, org, scope, act, exp - iat],
      [admin.userId, admin.organizationId, 'links.read audience.read', undefined, 3600],
    )
    const { kind, userId, role } = await harness.with(String(access_token)).caller()
    assert.deepEqual([kind, userId, role], ['session', admin.userId, 'admin'])
  })

  it('does not outlive what it is made from', async () => {
    const expiresAt = new Date(Date.now() + 600_000).toISOString()
    const { expires_in } = await exchange((await newToken({ expiresAt })).token)
    assert.ok(Number(expires_in) > 590 && Number(expires_in) <= 600, String(expires_in))
  })

  it('gives all the pairs of the subject, listed, where no scope is named', async () => {
    await admin.api.roles.saveRole({
      name: 'reader',
      kind: 'api',
      permissions: { links: ['read'], audience: ['read'] },
    })
    const { scope } = await exchange((await newToken({ role: 'reader' })).token)
    assert.equal(scope, 'audience.read links.read')
    const { access_token } = await exchange(admin.credential)
    assert.equal(claimsOf(access_token).scope.split(' ').length, 116)
  })

  it('gives no more than the subject has, nor than the client was registered for', async () => {
    await admin.api.roles.saveRole({ name: 'links', kind: 'api', permissions: { links: ['read', 'create'] } })
    const { token } = await newToken({ role: 'links' })
    await exchange(token, { scope: 'links.read' })
    const beyond = refusal('invalid_scope', /audience\.read/)
    await assert.rejects(exchange(token, { scope: 'links.read audience.read' }), beyond)
    await assert.rejects(exchange(admin.credential, { scope: 'no.such' }), refusal('invalid_scope'))
    await assert.rejects(exchange(admin.credential, { scope: '  ' }), refusal('invalid_scope'))
    const narrow = await register({ scope: 'links.read audience.read' })
    await assert.rejects(exchange(token, { ...narrow, scope: 'links.create' }), refusal('invalid_scope'))
    assert.equal((await exchange(token, narrow)).scope, 'links.read')
  })

  it('refuses who is no registered client, in one way', async () => {
    const refused = { code: 'client.invalid', status: 401, message: 'Unknown client, or a wrong secret.' }
    const open = await register({ tokenEndpointAuthMethod: 'none' })
    for (const fields of [
      { clientId: undefined },
      { clientId: 'f'.repeat(32) },
      { clientSecret: undefined },
      { clientSecret: 'wrong' },
      { ...open, clientSecret: 'none is expected' },
    ])
      await assert.rejects(exchange(admin.credential, fields), refused)
    await exchange(admin.credential, { ...open, clientSecret: undefined })
    const gone = await register()
    const past = { $set: { expiresAt: new Date(Date.now() - 1) } }
    await harness.db.collection('clients').updateOne({ clientId: gone.clientId }, past)
    await assert.rejects(exchange(admin.credential, gone), refused)
  })

  it('keeps a client that is used', async () => {
    const used = await register()
    await exchange(admin.credential, used)
    const stored = await harness.db.collection('clients').findOne({ clientId: used.clientId })
    assert.ok(stored!.expiresAt.getTime() - Date.now() > 89 * 24 * 3_600_000)
  })

  const malformed: [what: string, fields: object, code: string][] = [
    ['another grant', { grantType: 'client_credentials' }, 'unsupported_grant_type'],
    ['no subject_token', { subjectToken: undefined }, 'invalid_request'],
    ['no subject_token_type', { subjectTokenType: undefined }, 'invalid_request'],
    [
      'a subject_token_type there is not',
      { subjectTokenType: 'urn:ietf:params:oauth:token-type:saml2' },
      'invalid_request',
    ],
    [
      'a requested_token_type there is not',
      { requestedTokenType: 'urn:ietf:params:oauth:token-type:refresh_token' },
      'invalid_request',
    ],
    ['an actor', { actorToken: 'x', actorTokenType: JWT }, 'invalid_request'],
    ['the type of an actor that is not there', { actorTokenType: JWT }, 'invalid_request'],
    ['another audience', { audience: ['rollcall', 'elsewhere'] }, 'invalid_target'],
    ['a resource', { resource: ['https://example.com/api'] }, 'invalid_target'],
  ]
  for (const [what, fields, code] of malformed) {
    it(`refuses ${what} with ${code}`, () => assert.rejects(exchange(admin.credential, fields), refusal(code)))
  }

  it('takes the types and the audience there are', async () => {
    const { issued_token_type } = await exchange(admin.credential, {
      subjectTokenType: JWT,
      requestedTokenType: JWT,
      audience: ['rollcall'],
    })
    assert.equal(issued_token_type, JWT)
    const { token } = await newToken()
    await assert.rejects(exchange(token, { subjectTokenType: JWT }), refusal('invalid_request'))
  })

  it('refuses a subject that is good for nothing, or not to be traded', async () => {
    const { token, id } = await newToken()
    await admin.api.tokens.updateToken({ id, active: false })
    const other = await harness.addPerson(owner.organizationId, 'user')
    await owner.api.users.blockUser({ id: other.userId })
    const impersonation = await admin.api.authentication.impersonate({
      userId: (await harness.addPerson(owner.organizationId, 'user')).userId,
    })
    const { access_token } = await exchange(admin.credential)
    const forged = `${admin.credential.slice(0, -4)}AAAA`
    const subjects = [token, other.credential, impersonation.token, access_token, forged, 'nonsense', 'a:b']
    for (const subject of subjects) await assert.rejects(exchange(String(subject)), refusal('invalid_request'))
  })

  it('refuses a token at an address that it does not allow, and publishes that', async () => {
    const { token, id } = await newToken()
    await admin.api.tokens.setAllowedIps({ id, cidrs: ['203.0.113.0/24'] })
    const from = (ip?: string) => {
      const caller = { ...anonymousCaller(), ...(ip !== undefined && { ip }) }
      return harness.client('rollcall.identity.v1.Authentication').exchangeToken(requestOf(token), { caller })
    }
    await from('203.0.113.7')
    await assert.rejects(from('198.51.100.7'), { code: 'token.address_refused', status: 403 })
    await assert.rejects(from(), { code: 'token.address_refused' })
    const refusal = { 'event.type': 'token.refused', 'event.subject': id }
    const published = await eventually(
      'the refusal is published',
      async () => (await harness.db.collection('outbox').findOne(refusal)) ?? undefined,
    )
    const { data, origin } = published.event
    assert.deepEqual([data.reason, origin.ip], ['token.address_refused', '198.51.100.7'])
  })

  it('of a token acts as the token does, and says so', async () => {
    const { token, id } = await newToken()
    const api = await traded(token)
    const caller = await api.caller()
    assert.deepEqual([caller.kind, caller.tokenId, caller.userId], ['token', id, admin.userId])
    const [latest] = await docs(owner.api.users.listUserActivities({ id: admin.userId }))
    assert.deepEqual(
      [latest!.type, latest!.actor!.id, latest!.data!.clientName],
      ['session.exchanged', id, 'Nightly sync'],
    )
  })

  it('is shown among the sessions by the client’s name, and can be ended there', async () => {
    const person = await harness.addPerson(owner.organizationId, 'user')
    const api = await traded(person.credential)
    await api.caller()
    const [session] = await docs(owner.api.users.listUserSessions({ id: person.userId }))
    assert.deepEqual([session!.device, session!.impersonatedBy], ['Nightly sync', null])
    await owner.api.users.revokeUserSession({ id: person.userId, sessionRef: String(session!.sessionRef) })
    await assert.rejects(api.caller(), { status: 401 })
    await person.api.caller()
  })

  it('of a session ends at once with it', async () => {
    const person = await harness.addPerson(owner.organizationId, 'admin')
    const session = await newSession(person)
    const api = await traded(session.token)
    await api.caller()
    await session.api.authentication.logout({})
    await assert.rejects(api.caller(), { status: 401 })
    const listed = await docs(owner.api.users.listUserSessions({ id: person.userId }))
    assert.ok(!listed.some(({ device }) => String(device) === 'Nightly sync'))
  })

  const ends: [cause: string, end: (id: string) => Promise<unknown>][] = [
    ['made inactive', id => admin.api.tokens.updateToken({ id, active: false })],
    ['archived', id => admin.api.tokens.updateToken({ id, archived: true })],
    ['deleted', id => admin.api.tokens.deleteToken({ id })],
  ]
  for (const [cause, end] of ends) {
    it(`of a token ends at once when it is ${cause}`, async () => {
      const { token, id } = await newToken()
      const api = await traded(token)
      await api.caller()
      await end(id)
      await assert.rejects(api.caller(), { status: 401 })
    })
  }

  it('ends at once when the person is blocked or deleted, whatever it is made from', async () => {
    const actions = [
      [(id: string) => owner.api.users.blockUser({ id }), 403],
      [(id: string) => owner.api.users.deleteUser({ id }), 401],
    ] as const
    for (const [end, status] of actions) {
      const person = await harness.addPerson(owner.organizationId, 'admin')
      const apis = [await traded(person.credential), await traded((await newToken({}, person)).token)]
      for (const api of apis) await api.caller()
      await end(person.userId)
      for (const api of apis) await assert.rejects(api.caller(), { status })
    }
  })

  it('follows what the role of its subject allows', async () => {
    const save = (permissions: Record<string, unknown>) =>
      admin.api.roles.saveRole({ name: 'follower', kind: 'api', permissions })
    await save({ links: ['read'] })
    const api = await traded((await newToken({ role: 'follower' })).token)
    assert.deepEqual((await api.caller()).permissions, ['links.read'])
    await save({ audience: ['read'] })
    assert.deepEqual((await api.caller()).permissions, ['audience.read'])
  })
})
