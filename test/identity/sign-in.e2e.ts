import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answer, type Api, bodyOf, makeToken, type Sent } from '../api.ts'
import { fromElsewhere, pathOf, routes, titleOf, unknownId } from '../every-route.ts'
import type { Mailbox } from './mailbox.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

type Refusal = { message: string; path?: string }
type User = { id: string; email: string; role: string; emailVerified: boolean; lastLoginAt: string | null }
type SignIn = { token: string; expiresAt: string; user: User }
type Registration = SignIn & { organization: { id: string; name: string } }
type Me = {
  kind: string
  user: User
  organization: { id: string }
  role: string
  permissions: string[]
  token?: { id: string }
  impersonatedBy?: string
}
type Session = { sessionRef: string; device: string; current: boolean; impersonatedBy: string | null }
type Client = {
  client_id: string
  client_secret: string
  client_id_issued_at: number
  client_secret_expires_at: number
}
type Issued = { access_token: string; issued_token_type: string; token_type: string; expires_in: number; scope: string }
type OAuthError = { error: string; error_description: string }
type Person = { api: Api; token: string; id: string; email: string; orgId: string }

const password = 'correct horse'
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const unauthorized = [401, 'Unauthorized']

let stack: IdentityStack
let mailbox: Mailbox
let owner: Person
let count = 0

before(async () => {
  stack = await startIdentityStack()
  mailbox = stack.mailbox
  owner = await register()
})
after(() => stack?.stop())

const newEmail = () => `person${++count}@example.com`
const anyone = () => fromElsewhere(stack.api)
const post = <Body>(path: string, body?: unknown) => anyone().post<Body>(`/api/auth/${path}`, body)

async function register(email = newEmail()): Promise<Person> {
  const request = { name: 'Owner', email, password, organization: 'First Works' }
  const { token, user, organization } = await bodyOf(post<Registration>('register', request), 201)
  return { api: stack.api.as(token), token, id: user.id, email, orgId: organization.id }
}

/** Adds a person to the owner's organization, signed in. */
async function addPerson(role: string): Promise<Person> {
  const email = newEmail()
  await bodyOf(fromElsewhere(owner.api).post('/api/users', { name: 'Person', email, password, role }), 201)
  const { token, user } = await bodyOf(post<SignIn>('login', { email, password }))
  return { api: stack.api.as(token), token, id: user.id, email, orgId: owner.orgId }
}

const me = (api: Api) => fromElsewhere(api).get<Me>('/api/auth/me')
const blockUser = (id: string) => bodyOf(fromElsewhere(owner.api).patch(`/api/users/${id}/block`))
const sessionsOf = async (id: string) =>
  (await bodyOf(fromElsewhere(owner.api).get<{ docs: Session[] }>(`/api/users/${id}/sessions`))).docs
const statusOf = async (answer: Promise<Answer>) => (await answer).status
const plain = async (answer: Promise<Answer>) => {
  const { status, text } = await answer
  return [status, text]
}
const shape = async (answer: Promise<Answer>) => {
  const { status, body } = await answer
  return [status, body]
}

/** Bad values of each field with the expected refusal; the rest of the body is valid. */
type BadFields = Record<string, [value: unknown, message: string | RegExp][]>
const missing = (field: string): [unknown, string] => [undefined, `missing field -> ${field}`]
const mustBe = (field: string, what: string): string => `invalid field -> ${field}: must be ${what}`
const badEmail = (field = 'email'): [unknown, string][] => [
  missing(field),
  [1, mustBe(field, 'a string')],
  [null, mustBe(field, 'a string')],
  ['  ', mustBe(field, 'not empty').replace('be not', 'not be')],
  ['nobody', mustBe(field, 'an email address')],
]
const badOrgId: [unknown, string][] = [
  ['first', mustBe('orgId', 'a 24-character hex id')],
  [null, mustBe('orgId', 'a string')],
]
const badPassword: [unknown, string][] = [
  missing('password'),
  [12345678, mustBe('password', 'a string')],
  ['short', 'invalid field -> password: at least 8 characters'],
  ['x'.repeat(201), 'invalid field -> password: at most 200 characters'],
]

/** Returns every bad value of every field, an extra field, and malformed bodies, each with its 400. */
function refusesBadInput(path: string, good: object, fields: BadFields, api: () => Api = anyone): void {
  for (const [field, values] of Object.entries(fields)) {
    for (const [value, message] of values) {
      it(`for ${field}: ${JSON.stringify(value)?.slice(0, 30) ?? 'not given'}`, async () => {
        const answer = await fromElsewhere(api()).post<Refusal>(path, { ...good, [field]: value })
        const { path: at, ...body } = await bodyOf(Promise.resolve(answer), 400)
        assert.deepEqual({ body, at }, { body: { error: true, message }, at: field })
      })
    }
  }
  it('for a field there is not', async () => {
    const { message } = await bodyOf(fromElsewhere(api()).post<Refusal>(path, { ...good, nonsense: 1 }), 400)
    assert.equal(message, 'extra field -> nonsense')
  })
  it('for what is no JSON object', async () => {
    for (const [body, type, message] of [
      ['{', 'application/json', 'malformed JSON'],
      ['[]', 'application/json', 'body must be a JSON object'],
      ['a=b', 'application/x-www-form-urlencoded', 'content type must be application/json'],
    ]) {
      const sent = { body, headers: { 'content-type': type! } }
      assert.deepEqual(await shape(fromElsewhere(api()).request('POST', path, sent)), [400, { error: true, message }])
    }
  })
}

/** Routes that need a credential. */
function refusesStrangers(verb: string, path: string, body?: object): void {
  it('without a credential, or with a malformed one', async () => {
    const sent = body && { body }
    const credentials = ['nonsense', 'a.b.c', `${unknownId}:${'x'.repeat(60)}`, 'x:y']
    for (const api of [anyone(), ...credentials.map(credential => anyone().as(credential))]) {
      const answer = await fromElsewhere(api).request(verb, path, sent)
      assert.deepEqual([answer.status, answer.text], unauthorized)
      assert.match(answer.headers.get('content-type')!, /^text\/plain/)
      assert.match(answer.headers.get('www-authenticate')!, /^Bearer error="invalid_token", error_description="/)
    }
  })
}

/** The answer and cookie of a sign-in. Either of them authenticates. */
async function opens({ body, headers }: Answer<SignIn>, id: string): Promise<void> {
  assert.deepEqual(Object.keys(body).slice(0, 3), ['token', 'expiresAt', 'user'])
  assert.equal(body.user.id, id)
  const [cookie = ''] = headers.getSetCookie()
  assert.match(cookie, /^auth_token=[\w.-]+; .*HttpOnly.*SameSite=Lax/i)
  assert.equal(/Expires=([^;]+)/.exec(cookie)![1], new Date(body.expiresAt).toUTCString())
  for (const api of [stack.api.as(body.token), stack.api.with({ cookie: cookie.split(';')[0]! })])
    assert.equal((await bodyOf(me(api))).user.id, id)
}

describe('POST /api/auth/register', () => {
  const good = { name: 'Owner', email: 'new@example.com', password }

  it('201: makes an organization and its owner, and signs the owner in by token and cookie', async () => {
    const email = newEmail()
    const answer = await post<Registration>('register', {
      name: ' User One ',
      email: ` ${email} `,
      password,
      organization: 'Works',
    })
    assert.equal(answer.status, 201)
    const { organization, user } = answer.body
    assert.deepEqual([organization.name, user.email, user.role], ['Works', email, 'owner'])
    await opens(answer, user.id)
  })

  it('201: takes an email that has an account in another organization', async () => {
    const { email, orgId } = await register()
    assert.notEqual((await register(email)).orgId, orgId)
  })

  describe('400', () =>
    refusesBadInput('/api/auth/register', good, {
      name: [
        missing('name'),
        ['', 'invalid field -> name: must not be empty'],
        ['x'.repeat(101), 'invalid field -> name: at most 100 characters'],
      ],
      email: badEmail(),
      password: badPassword,
      organization: [
        ['', 'invalid field -> organization: must not be empty'],
        [null, mustBe('organization', 'a string')],
      ],
    }))
})

describe('POST /api/auth/login', () => {
  it('200: opens a session by token and cookie, whatever the case of the email', async () => {
    const person = await register()
    const answer = await post<SignIn>('login', { email: person.email.toUpperCase(), password })
    assert.equal(answer.status, 200)
    assert.ok(Date.now() - Date.parse(answer.body.user.lastLoginAt!) < 60_000)
    await opens(answer, person.id)
  })

  describe('400', () => {
    refusesBadInput(
      '/api/auth/login',
      { email: 'a@example.com', password },
      {
        email: [missing('email'), [1, mustBe('email', 'a string')], ['', 'invalid field -> email: must not be empty']],
        password: [
          missing('password'),
          [1, mustBe('password', 'a string')],
          ['', 'invalid field -> password: must not be empty'],
        ],
        orgId: badOrgId,
      },
    )

    it('where email and password fit several accounts: the organization is missing', async () => {
      const { email } = await register()
      const twin = await register(email)
      const refused = { error: true, message: 'missing field -> orgId', path: 'orgId' }
      assert.deepEqual(await shape(post('login', { email, password })), [400, refused])
      const { user } = await bodyOf(post<SignIn>('login', { email, password, orgId: twin.orgId }))
      assert.equal(user.id, twin.id)
    })
  })

  it('401: a wrong password, an unknown email and another organization are answered alike', async () => {
    const { email } = await register()
    for (const request of [
      { email, password: 'wrong password' },
      { email: newEmail(), password },
      { email, password, orgId: unknownId },
    ])
      assert.deepEqual(await plain(post('login', request)), unauthorized)
  })

  it('403: a blocked account, to who has its password only', async () => {
    const person = await addPerson('user')
    await blockUser(person.id)
    const blocked = { error: true, message: 'Account is blocked.' }
    assert.deepEqual(await shape(post('login', { email: person.email, password })), [403, blocked])
    assert.deepEqual(await plain(post('login', { email: person.email, password: 'wrong password' })), unauthorized)
    assert.deepEqual(await shape(me(person.api)), [403, blocked])
    await bodyOf(fromElsewhere(owner.api).patch(`/api/users/${person.id}/unblock`))
    assert.deepEqual(await plain(me(person.api)), unauthorized)
    await bodyOf(post('login', { email: person.email, password }))
  })
})

describe('POST /api/auth/logout', () => {
  const logout = (api: Api, sent?: Sent) => fromElsewhere(api).request('POST', '/api/auth/logout', sent)

  it('200: ends the session at once, no other, and takes the cookie back', async () => {
    const person = await register()
    const other = await bodyOf(post<SignIn>('login', { email: person.email, password }))
    const answer = await logout(person.api)
    assert.deepEqual([answer.status, answer.body], [200, { success: true, message: 'signed out' }])
    assert.match(answer.headers.getSetCookie()[0]!, /^auth_token=; .*Expires=Thu, 01 Jan 1970/)
    assert.deepEqual(await plain(me(person.api)), unauthorized)
    await bodyOf(me(stack.api.as(other.token)))
  })

  it('200: by cookie from the same origin', async () => {
    const { token } = await register()
    await bodyOf(logout(stack.api.with({ cookie: `auth_token=${token}`, 'sec-fetch-site': 'same-origin' })))
    assert.deepEqual(await plain(me(stack.api.as(token))), unauthorized)
  })

  it('400: an API token has no session, and there is nothing to say', async () => {
    const token = await makeToken(fromElsewhere(owner.api))
    const message = 'An API token has no session to end.'
    assert.deepEqual(await shape(logout(token.api)), [400, { error: true, message }])
    const extra = { error: true, message: 'extra field -> all', path: 'all' }
    assert.deepEqual(await shape(logout(owner.api, { body: { all: true } })), [400, extra])
  })

  describe('401', () => refusesStrangers('POST', '/api/auth/logout'))

  it('403: by cookie from another origin', async () => {
    const { token } = await register()
    const message = 'State-changing requests with a cookie must come from the same origin.'
    for (const more of [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://example.com' }] as Record<
      string,
      string
    >[])
      assert.deepEqual(await shape(logout(stack.api.with({ cookie: `auth_token=${token}`, ...more }))), [
        403,
        { error: true, message },
      ])
    await bodyOf(me(stack.api.as(token)))
  })
})

describe('GET /api/auth/me', () => {
  it('200: by header with and without Bearer, by either cookie; the header wins, and auth_token over authorization', async () => {
    const { token, id } = await register()
    const other = await register()
    const cookies = (text: string) => stack.api.with({ cookie: text })
    for (const api of [
      stack.api.as(token),
      stack.api.as(`Bearer ${token}`),
      stack.api.as(`bearer ${token}`),
      cookies(`auth_token=${token}`),
      cookies(`authorization=${token}`),
      cookies(`authorization=Bearer%20${token}`),
      cookies(`authorization=${other.token}; auth_token=${token}`),
      cookies(`auth_token=${other.token}`).as(token),
    ])
      assert.equal((await bodyOf(me(api))).user.id, id)
  })

  it('200: returns a session and its permissions', async () => {
    const { user, organization, ...rest } = await bodyOf(me(owner.api))
    const mfa = { totp: false, recoveryCodesLeft: 0, required: false }
    assert.deepEqual(rest, { kind: 'session', role: 'owner', permissions: ['*'], mfa })
    assert.deepEqual([user.id, organization.id], [owner.id, owner.orgId])
  })

  it('200: returns a token, its creator and its permissions', async () => {
    await bodyOf(
      fromElsewhere(owner.api).post('/api/access-control/save-role', {
        name: 'links',
        kind: 'api',
        permissions: { links: ['read'] },
      }),
    )
    const token = await makeToken(fromElsewhere(owner.api), { role: 'links' })
    const { kind, role, permissions, user, token: inUse } = await bodyOf(me(token.api))
    assert.deepEqual(
      [kind, role, permissions, user.id, inUse!.id],
      ['token', 'links', ['links.read'], owner.id, token.id],
    )
  })

  it('200: HEAD is answered as GET, without the body', async () => {
    const { status, text } = await fromElsewhere(owner.api).request('HEAD', '/api/auth/me')
    assert.deepEqual([status, text], [200, ''])
  })

  it('400: it has no parameters', async () => {
    const refused = { error: true, message: 'extra field -> all', path: 'all' }
    assert.deepEqual(await shape(fromElsewhere(owner.api).get('/api/auth/me', { all: 1 })), [400, refused])
  })

  describe('401', () => refusesStrangers('GET', '/api/auth/me'))
})

describe('POST /api/auth/password/forgot and /reset', () => {
  const sent = { success: true, message: 'sent, if there is such an account' }
  const forgot = (email: string) => post('password/forgot', { email })
  const reset = (request: object) => post('password/reset', request)
  const secretFor = async (email: string) => {
    const mail = await mailbox.next(email, () => bodyOf(forgot(email)))
    return /set-password\?token=(\w+)/.exec(mail)![1]!
  }

  it('200: mails a link that sets the password once, and ends every session', async () => {
    const person = await register()
    const token = await secretFor(person.email)
    assert.deepEqual(await shape(reset({ token, password: 'another horse' })), [
      200,
      { success: true, message: 'updated' },
    ])
    assert.deepEqual(await plain(me(person.api)), unauthorized)
    assert.deepEqual(await plain(post('login', { email: person.email, password })), unauthorized)
    await bodyOf(post('login', { email: person.email, password: 'another horse' }))
    assert.equal(await statusOf(reset({ token, password })), 400)
  })

  it('200: an address without an account is answered alike, and gets no mail', async () => {
    const nobody = newEmail()
    assert.deepEqual(await shape(forgot(nobody)), [200, sent])
    await secretFor((await register()).email)
    assert.deepEqual(await mailbox.to(nobody), [])
  })

  describe('400 of forgot', () =>
    refusesBadInput('/api/auth/password/forgot', { email: 'a@example.com' }, { email: badEmail(), orgId: badOrgId }))
  describe('400 of reset', () => {
    refusesBadInput(
      '/api/auth/password/reset',
      { token: 'x', password },
      {
        token: [
          missing('token'),
          ['', 'invalid field -> token: must not be empty'],
          ['unknown', 'the link has expired or was used'],
        ],
        password: badPassword,
      },
    )
  })
})

describe('POST /api/auth/otp/request and /verify', () => {
  const request = (email: string, orgId?: string) =>
    post<{ requestId: string }>('otp/request', { email, ...(orgId !== undefined && { orgId }) })
  const verify = (fields: object) => post<SignIn>('otp/verify', fields)
  const codeFor = async (email: string, orgId?: string) => {
    const mail = await mailbox.next(email, () => bodyOf(request(email, orgId)))
    return /(\d{6}) is your code/.exec(mail)![1]!
  }
  const other = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0')

  it('200: mails a code of six digits that opens a session by token and cookie, and verifies the email', async () => {
    const person = await addPerson('user')
    const answer = await verify({ email: person.email, code: await codeFor(person.email) })
    assert.equal(answer.status, 200)
    assert.equal(answer.body.user.emailVerified, true)
    await opens(answer, person.id)
  })

  it('200: an address without an account is answered alike, and gets no mail', async () => {
    const nobody = newEmail()
    const { email } = await register()
    for (const address of [nobody, email]) {
      const { requestId, ...rest } = await bodyOf(request(address))
      assert.deepEqual(rest, { success: true, message: 'sent, if there is such an account' })
      assert.match(requestId, /^\w{60}$/)
    }
    await codeFor(email)
    assert.deepEqual(await mailbox.to(nobody), [])
  })

  describe('400 of request', () =>
    refusesBadInput('/api/auth/otp/request', { email: 'a@example.com' }, { email: badEmail(), orgId: badOrgId }))
  describe('400 of verify', () => {
    refusesBadInput(
      '/api/auth/otp/verify',
      { email: 'a@example.com', code: '123456' },
      {
        email: [missing('email'), [1, mustBe('email', 'a string')]],
        code: [
          missing('code'),
          [123456, mustBe('code', 'a string')],
          ['12345', 'invalid field -> code: at least 6 characters'],
          ['1234567', 'invalid field -> code: at most 6 characters'],
        ],
        orgId: badOrgId,
        requestId: [[1, mustBe('requestId', 'a string')]],
      },
    )

    it('where the email has several accounts: the organization is missing, once the code is right', async () => {
      const { email } = await register()
      const twin = await register(email)
      const code = await codeFor(email)
      const refused = { error: true, message: 'missing field -> orgId', path: 'orgId' }
      assert.deepEqual(await plain(verify({ email, code: other(code) })), unauthorized)
      assert.deepEqual(await shape(verify({ email, code })), [400, refused])
      assert.equal((await bodyOf(verify({ email, code, orgId: twin.orgId }))).user.id, twin.id)
    })
  })

  it('401: a wrong code, an unknown email, a used code and one of another request are answered alike', async () => {
    const { email } = await register()
    const code = await codeFor(email)
    const { requestId } = await bodyOf(request(newEmail()))
    assert.deepEqual(await plain(verify({ email, code, requestId })), unauthorized)
    await bodyOf(verify({ email, code }))
    for (const fields of [
      { email, code },
      { email, code: other(code) },
      { email: newEmail(), code },
    ])
      assert.deepEqual(await plain(verify(fields)), unauthorized)
  })

  it('401: the right code after five wrong ones', async () => {
    const { email } = await register()
    const code = await codeFor(email)
    for (let by = 1; by <= 5; by++) assert.equal(await statusOf(verify({ email, code: other(code, by) })), 401)
    assert.deepEqual(await plain(verify({ email, code })), unauthorized)
  })

  it('401: all but one of many that use a code at once', async () => {
    const { email } = await register()
    const code = await codeFor(email)
    const statuses = await Promise.all(Array.from({ length: 5 }, () => statusOf(verify({ email, code }))))
    assert.deepEqual(statuses.sort(), [200, 401, 401, 401, 401])
  })

  it('403: a blocked account, to who has the code only', async () => {
    const person = await addPerson('user')
    const code = await codeFor(person.email)
    await blockUser(person.id)
    assert.deepEqual(await plain(verify({ email: person.email, code: other(code) })), unauthorized)
    assert.deepEqual(await shape(verify({ email: person.email, code })), [
      403,
      { error: true, message: 'Account is blocked.' },
    ])
  })
})

describe('GET /api/auth/options', () => {
  it('says how people can sign in', async () => {
    const options = await bodyOf(anyone().get('/api/auth/options'))
    assert.deepEqual(options, { registration: 'open', passwordMinLength: 8, oidc: [] })
  })
})

describe('POST /api/auth/organizations', () => {
  const organizations = (email: string, given = password) =>
    post<{ _id: string; name: string }[]>('organizations', { email, password: given })

  it('lists the organizations of the accounts that the password matches', async () => {
    const email = newEmail()
    const [one, another] = [await register(email), await register(email)]
    const other = { name: 'Owner', email, password: 'a password of its own', organization: 'Elsewhere' }
    const { organization } = await bodyOf(post<Registration>('register', other), 201)
    const found = await bodyOf(organizations(email))
    assert.deepEqual(found.map(({ _id }) => _id).sort(), [one.orgId, another.orgId].sort())
    assert.deepEqual(await bodyOf(organizations(email, other.password)), [{ _id: organization.id, name: 'Elsewhere' }])
  })

  it('answers the same 401 to a wrong password and an unknown email, and counts it as a failed sign-in', async () => {
    const { email } = await register()
    assert.deepEqual(await plain(organizations(newEmail())), unauthorized)
    for (let attempt = 0; attempt < 10; attempt++)
      assert.deepEqual(await plain(organizations(email, 'wrong')), unauthorized)
    assert.equal(await statusOf(post('login', { email, password })), 401)
  })
})

describe('POST /api/auth/impersonate', () => {
  const path = '/api/auth/impersonate'
  const impersonate = (api: Api, userId: string) => fromElsewhere(api).post<SignIn>(path, { userId })
  const actAs = async (api: Api, userId: string) => stack.api.as((await bodyOf(impersonate(api, userId))).token)
  let person: Person
  before(async () => {
    person = await addPerson('user')
  })

  it('200: reads as the user for half an hour, says who does, and sets no cookie', async () => {
    const answer = await impersonate(owner.api, person.id)
    const { token, expiresAt, user } = await bodyOf(Promise.resolve(answer))
    assert.deepEqual(answer.headers.getSetCookie(), [])
    const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000
    assert.ok(minutes > 29 && minutes <= 30, `${minutes} minutes`)
    assert.equal(user.id, person.id)
    const { kind, role, user: shown, impersonatedBy } = await bodyOf(me(stack.api.as(token)))
    assert.deepEqual([kind, role, shown.id, impersonatedBy], ['session', 'user', person.id, owner.id])
    await bodyOf(fromElsewhere(stack.api.as(token)).get('/api/audience'))
  })

  it('200: is listed among the user’s sessions, and can be ended there', async () => {
    const other = await addPerson('user')
    const api = await actAs(owner.api, other.id)
    await bodyOf(me(api))
    const found = (await sessionsOf(other.id)).find(({ impersonatedBy }) => impersonatedBy === owner.id)
    await bodyOf(fromElsewhere(owner.api).delete(`/api/users/${other.id}/sessions/${found!.sessionRef}`))
    assert.deepEqual(await plain(me(api)), unauthorized)
    await bodyOf(me(other.api))
  })

  it('200: names its session, and keeps the reason in the trail', async () => {
    const other = await addPerson('user')
    const request = { userId: other.id, reason: 'Ticket 7: the list is empty' }
    type Impersonation = SignIn & { sessionRef: string }
    const { token, sessionRef } = await bodyOf(fromElsewhere(owner.api).post<Impersonation>(path, request))
    type Trail = { docs: { type: string; data: { reason?: string } }[] }
    const trail = await bodyOf(fromElsewhere(owner.api).get<Trail>(`/api/users/${other.id}/activities`))
    assert.equal(trail.docs.find(({ type }) => type === 'session.impersonated')!.data.reason, request.reason)
    await bodyOf(fromElsewhere(owner.api).delete(`/api/users/${other.id}/sessions/${sessionRef}`))
    assert.deepEqual(await plain(me(stack.api.as(token))), unauthorized)
  })

  it('200: is in the trails of both', async () => {
    const admin = await addPerson('admin')
    const other = await addPerson('user')
    await actAs(admin.api, other.id)
    for (const id of [admin.id, other.id]) {
      const trail = fromElsewhere(owner.api).get<{ docs: { type: string; actor: { id: string } }[] }>(
        `/api/users/${id}/activities`,
      )
      const [latest] = (await bodyOf(trail)).docs
      assert.deepEqual([latest!.type, latest!.actor.id], ['session.impersonated', admin.id])
    }
  })

  it('200: for tokens that authorize as owner or admin', async () => {
    for (const fields of [{}, { role: 'admin' }]) {
      const token = await makeToken(fromElsewhere(owner.api), fields)
      assert.equal((await bodyOf(me(await actAs(token.api, person.id)))).impersonatedBy, owner.id)
    }
  })

  describe('400', () =>
    refusesBadInput(
      path,
      { userId: unknownId },
      {
        userId: [
          missing('userId'),
          ['first', mustBe('userId', 'a 24-character hex id')],
          [1, mustBe('userId', 'a string')],
        ],
      },
      () => owner.api,
    ))

  describe('401', () => {
    refusesStrangers('POST', path, { userId: unknownId })

    it('at once when who acts is blocked, deleted, loses the role or signs out', async () => {
      const ends: ((who: Person) => Promise<unknown>)[] = [
        who => blockUser(who.id),
        who => bodyOf(fromElsewhere(owner.api).delete(`/api/users/${who.id}`)),
        who => bodyOf(fromElsewhere(owner.api).patch(`/api/users/${who.id}/change-role`, { role: 'user' })),
        who => bodyOf(fromElsewhere(who.api).post('/api/auth/logout')),
      ]
      for (const end of ends) {
        const admin = await addPerson('admin')
        const api = await actAs(admin.api, person.id)
        await bodyOf(me(api))
        await end(admin)
        assert.deepEqual(await plain(me(api)), unauthorized)
      }
    })
  })

  describe('403', () => {
    const refused = {
      error: true,
      message: 'Only owners and admins may impersonate a user, and only owners may impersonate an owner.',
    }

    it('for anyone but owners and admins, whatever their permissions', async () => {
      const everything = {
        name: 'everything',
        kind: 'api',
        permissions: { users: ['read', 'create', 'update', 'delete'] },
      }
      await bodyOf(fromElsewhere(owner.api).post('/api/access-control/save-role', everything))
      const tokens = await Promise.all(
        ['everything', 'user'].map(role => makeToken(fromElsewhere(owner.api), { role })),
      )
      const other = await addPerson('user')
      for (const api of [other.api, ...tokens.map(token => token.api)])
        for (const id of [person.id, unknownId]) assert.deepEqual(await shape(impersonate(api, id)), [403, refused])
    })

    it('for an admin who would be an owner', async () => {
      const admin = await addPerson('admin')
      assert.deepEqual(await shape(impersonate(admin.api, owner.id)), [403, refused])
      await actAs(admin.api, (await addPerson('admin')).id)
    })

    it('for a blocked user', async () => {
      const other = await addPerson('user')
      await blockUser(other.id)
      assert.deepEqual(await shape(impersonate(owner.api, other.id)), [
        403,
        { error: true, message: 'Account is blocked.' },
      ])
    })

    const changing = routes.filter(({ verb, access }) => verb !== 'GET' && access.kind !== 'public')
    it(`for each of the ${changing.length} routes that change something: an impersonation only reads`, async () => {
      const api = await actAs(owner.api, (await addPerson('admin')).id)
      for (const route of changing) {
        const answer = await shape(fromElsewhere(api).request(route.verb, pathOf(route)))
        assert.deepEqual(answer, [403, { success: false, message: 'Impersonation is read-only.' }], titleOf(route))
      }
      await bodyOf(me(api))
    })
  })

  it('404: a user there is not, and one of another organization', async () => {
    const elsewhere = await register()
    for (const id of [unknownId, elsewhere.id])
      assert.deepEqual(await shape(impersonate(owner.api, id)), [404, { error: true, message: 'user not found' }])
  })

  it('409: oneself; and a repetition by its Idempotency-Key, since the answer holds a secret', async () => {
    assert.equal(await statusOf(impersonate(owner.api, owner.id)), 409)
    const api = owner.api.with({ 'idempotency-key': 'act-as-a-person' })
    assert.equal(await statusOf(impersonate(api, person.id)), 200)
    assert.equal(await statusOf(impersonate(api, person.id)), 409)
  })
})

/** A newly registered client. */
const newClient = (metadata: object = { client_name: 'Nightly sync' }) => bodyOf(post<Client>('clients', metadata), 201)
const basic = ({ client_id, client_secret }: Client) => `Basic ${btoa(`${client_id}:${client_secret}`)}`

describe('POST /api/auth/token', () => {
  const path = '/api/auth/token'
  let client: Client
  before(async () => {
    client = await newClient()
  })

  const formType = { 'content-type': 'application/x-www-form-urlencoded' }
  const usual = (subject: string) => ({
    grant_type: exchangeGrant,
    subject_token: subject,
    subject_token_type: accessTokenType,
  })
  const byForm = <Body = Issued>(
    fields: Record<string, string> | [string, string][],
    headers: Record<string, string> = { authorization: basic(client) },
  ) =>
    anyone().request<Body>('POST', path, {
      body: String(new URLSearchParams(fields)),
      headers: { ...formType, ...headers },
    })
  const byJson = <Body = Issued>(fields: object) => anyone().post<Body>(path, fields)
  const traded = async (subject: string, fields: Record<string, string> = {}) =>
    stack.api.as((await bodyOf(byForm({ ...usual(subject), ...fields }))).access_token)
  const refusal = async (answer: Promise<Answer<OAuthError>>) => {
    const { status, body, headers } = await answer
    assert.deepEqual(Object.keys(body), ['error', 'error_description'])
    assert.equal(headers.get('cache-control'), 'no-store')
    return [status, body.error]
  }

  it('200: by form and Authorization: Basic, as RFC 8693 and RFC 6749 have it', async () => {
    const answer = await byForm({ ...usual(owner.token), scope: 'audience.read' })
    const { access_token, expires_in, ...rest } = await bodyOf(Promise.resolve(answer))
    assert.deepEqual(rest, { issued_token_type: accessTokenType, token_type: 'Bearer', scope: 'audience.read' })
    assert.ok(expires_in > 3500 && expires_in <= 3600)
    assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('pragma')], ['no-store', 'no-cache'])
    assert.equal((await bodyOf(me(stack.api.as(access_token)))).user.id, owner.id)
  })

  it('200: by form or JSON with the client’s credentials in it; what is not known is ignored', async () => {
    const { client_id, client_secret } = client
    const fields = { ...usual(owner.token), client_id, client_secret, scope: 'links.read', unheard_of: 'x' }
    assert.equal((await bodyOf(byForm({ ...fields, requested_token_type: '' }, {}))).scope, 'links.read')
    assert.equal((await bodyOf(byJson({ ...fields, audience: 'rollcall' }))).scope, 'links.read')
  })

  it('200: to a client that has no secret', async () => {
    const { client_id } = await newClient({ token_endpoint_auth_method: 'none' })
    await bodyOf(byForm({ ...usual(owner.token), client_id }, {}))
  })

  it('200: the JWT does what its scope says, and nothing else', async () => {
    const api = await traded(owner.token, { scope: 'audience.read links.read' })
    assert.deepEqual((await bodyOf(me(api))).permissions, ['audience.read', 'links.read'])
    await bodyOf(fromElsewhere(api).get('/api/audience'))
    const denied = (permission: string) => [403, { error: true, message: `Permission denied: ${permission}` }]
    assert.deepEqual(await shape(fromElsewhere(api).post('/api/audience', {})), denied('audience.create'))
    assert.deepEqual(await shape(fromElsewhere(api).get('/api/users')), denied('users.read'))
    const other = await addPerson('user')
    assert.equal(await statusOf(fromElsewhere(api).post('/api/auth/impersonate', { userId: other.id })), 403)
  })

  it('200: is shown among the sessions by the client’s name, and can be ended there', async () => {
    const person = await addPerson('user')
    const api = await traded(person.token)
    const session = (await sessionsOf(person.id)).find(({ device }) => device === 'Nightly sync')
    await bodyOf(fromElsewhere(owner.api).delete(`/api/users/${person.id}/sessions/${session!.sessionRef}`))
    assert.deepEqual(await plain(me(api)), unauthorized)
    await bodyOf(me(person.api))
  })

  it('is revoked with its subject, at once', async () => {
    const ends: [subject: () => Promise<[string, () => Promise<unknown>]>][] = [
      [
        async () => {
          const { token, id } = await makeToken(fromElsewhere(owner.api))
          return [token, () => bodyOf(fromElsewhere(owner.api).patch(`/api/tokens/${id}`, { active: false }))]
        },
      ],
      [
        async () => {
          const { token, id } = await makeToken(fromElsewhere(owner.api))
          return [token, () => bodyOf(fromElsewhere(owner.api).delete(`/api/tokens/${id}`))]
        },
      ],
      [
        async () => {
          const { api, token } = await addPerson('user')
          return [token, () => bodyOf(fromElsewhere(api).post('/api/auth/logout'))]
        },
      ],
      [
        async () => {
          const { id, token } = await addPerson('user')
          return [token, () => bodyOf(fromElsewhere(owner.api).delete(`/api/users/${id}`))]
        },
      ],
    ]
    for (const [subject] of ends) {
      const [token, end] = await subject()
      const api = await traded(token)
      await bodyOf(me(api))
      await end()
      assert.deepEqual(await plain(me(api)), unauthorized)
    }
  })

  describe('400', () => {
    const bad: [what: string, fields: Record<string, string>, error: string][] = [
      ['no grant_type', { grant_type: '' }, 'invalid_request'],
      ['another grant_type', { grant_type: 'password' }, 'unsupported_grant_type'],
      ['no subject_token', { subject_token: '' }, 'invalid_request'],
      ['a bad subject_token', { subject_token: 'nonsense' }, 'invalid_request'],
      ['no subject_token_type', { subject_token_type: '' }, 'invalid_request'],
      ['a bad subject_token_type', { subject_token_type: 'jwt' }, 'invalid_request'],
      ['a bad requested_token_type', { requested_token_type: 'jwt' }, 'invalid_request'],
      ['an actor_token', { actor_token: 'x', actor_token_type: accessTokenType }, 'invalid_request'],
      ['another audience', { audience: 'elsewhere' }, 'invalid_target'],
      ['a resource', { resource: 'https://example.com' }, 'invalid_target'],
      ['a scope there is not', { scope: 'audience.fly' }, 'invalid_scope'],
    ]
    for (const [what, fields, error] of bad) {
      it(`${error} for ${what}`, async () => {
        assert.deepEqual(await refusal(byForm<OAuthError>({ ...usual(owner.token), ...fields })), [400, error])
      })
    }

    it('invalid_scope for more than the subject has', async () => {
      const { token } = await makeToken(fromElsewhere(owner.api), { role: 'user' })
      assert.deepEqual(await refusal(byForm<OAuthError>({ ...usual(token), scope: 'users.read' })), [
        400,
        'invalid_scope',
      ])
    })

    it('invalid_request for a parameter given twice, a client shown in two ways, and a broken body', async () => {
      const twice: [string, string][] = [...Object.entries(usual(owner.token)), ['grant_type', exchangeGrant]]
      const { client_id, client_secret } = client
      assert.deepEqual(await refusal(byForm<OAuthError>(twice)), [400, 'invalid_request'])
      const twofold = { ...usual(owner.token), client_id, client_secret }
      assert.deepEqual(await refusal(byForm<OAuthError>(twofold)), [400, 'invalid_request'])
      for (const type of ['application/json', 'text/plain']) {
        const sent = { body: '{', headers: { 'content-type': type } }
        assert.deepEqual(await refusal(anyone().request<OAuthError>('POST', path, sent)), [400, 'invalid_request'])
      }
      assert.deepEqual(await refusal(byJson<OAuthError>({ ...twofold, scope: ['links.read'] })), [
        400,
        'invalid_request',
      ])
      assert.deepEqual(await refusal(byJson<OAuthError>({})), [400, 'invalid_request'])
    })

    it('invalid_request for what is not to be traded again', async () => {
      const { access_token } = await bodyOf(byForm(usual(owner.token)))
      const person = await addPerson('user')
      const { token } = await bodyOf(
        fromElsewhere(owner.api).post<SignIn>('/api/auth/impersonate', { userId: person.id }),
      )
      for (const subject of [access_token, token])
        assert.deepEqual(await refusal(byForm<OAuthError>(usual(subject))), [400, 'invalid_request'])
    })
  })

  it('401: invalid_client, with the scheme to use', async () => {
    for (const authorization of [
      basic({ ...client, client_secret: 'wrong' }),
      basic({ ...client, client_id: 'wrong' }),
      'Basic %',
    ]) {
      const answer = await byForm<OAuthError>(usual(owner.token), { authorization })
      assert.deepEqual(await refusal(Promise.resolve(answer)), [401, 'invalid_client'])
      assert.match(answer.headers.get('www-authenticate')!, /^Basic /)
    }
    assert.deepEqual(await refusal(byForm<OAuthError>(usual(owner.token), {})), [401, 'invalid_client'])
  })
})

describe('POST /api/auth/clients', () => {
  const refusal = async (metadata: unknown) => {
    const { status, body } = await post<OAuthError>('clients', metadata)
    assert.deepEqual(Object.keys(body), ['error', 'error_description'])
    return [status, body.error]
  }

  it('201: answers id, secret and what was registered; unknown metadata is ignored', async () => {
    const metadata = {
      client_name: 'Sync',
      redirect_uris: ['https://example.com/back'],
      logo_uri: 'x',
      jwks: { keys: [] },
    }
    const answer = await post<Client>('clients', metadata)
    assert.equal(answer.status, 201)
    const { client_id, client_secret, client_id_issued_at, ...rest } = answer.body
    assert.ok(client_id && client_secret.length === 60 && Math.abs(client_id_issued_at - Date.now() / 1000) < 60)
    assert.deepEqual(rest, {
      client_secret_expires_at: 0,
      client_name: 'Sync',
      redirect_uris: ['https://example.com/back'],
      grant_types: [exchangeGrant],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_basic',
    })
    assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('pragma')], ['no-store', 'no-cache'])
  })

  it('201: without any metadata', async () => assert.ok((await newClient({})).client_secret))

  it('400: invalid_redirect_uri', async () => {
    for (const uris of [['/back'], ['http://example.com/'], ['https://example.com/#x'], 'https://example.com/', [1]])
      assert.deepEqual(await refusal({ redirect_uris: uris }), [400, 'invalid_redirect_uri'], JSON.stringify(uris))
  })

  it('400: invalid_client_metadata', async () => {
    for (const metadata of [
      { token_endpoint_auth_method: 'private_key_jwt' },
      { grant_types: ['authorization_code'] },
      { client_name: '' },
      { client_name: 1 },
      { client_uri: 'nowhere' },
      { scope: 'audience.fly' },
      [],
      '{',
    ])
      assert.deepEqual(await refusal(metadata), [400, 'invalid_client_metadata'], JSON.stringify(metadata))
  })
})

describe('the limits of /api/auth', () => {
  const limited: [requests: number, paths: [verb: string, path: string][]][] = [
    [
      20,
      [
        ['POST', 'login'],
        ['POST', 'register'],
      ],
    ],
    [
      10,
      [
        ['POST', 'otp/request'],
        ['POST', 'otp/verify'],
      ],
    ],
    [
      30,
      [
        ['POST', 'logout'],
        ['GET', 'me'],
        ['POST', 'password/forgot'],
        ['POST', 'password/reset'],
        ['POST', 'impersonate'],
      ],
    ],
    [10, [['POST', 'token']]],
    [5, [['POST', 'clients']]],
  ]
  for (const [requests, paths] of limited) {
    it(`429: ${requests} a minute for ${paths.map(([, path]) => path).join(', ')} together, shown in headers`, async () => {
      const api = anyone()
      for (let sent = 1; sent <= requests + 1; sent++) {
        const [verb, path] = paths[sent % paths.length]!
        const { status, headers, body } = await api.request(
          verb,
          `/api/auth/${path}`,
          verb === 'GET' ? {} : { body: {} },
        )
        assert.equal(headers.get('ratelimit-limit'), String(requests))
        assert.equal(headers.get('ratelimit-policy'), `${requests};w=60`)
        assert.equal(headers.get('ratelimit-remaining'), String(Math.max(0, requests - sent)))
        assert.ok(Number(headers.get('ratelimit-reset')) <= 60)
        assert.equal(headers.get('x-ratelimit-limit'), null)
        assert.equal(status === 429, sent > requests, `${sent}: ${status}`)
        if (status !== 429) continue
        assert.ok(Number(headers.get('retry-after')) > 0)
        assert.deepEqual(body, { success: false, message: 'too many requests, please try again later' })
      }
      const [[verb, path]] = paths as [[string, string]]
      assert.notEqual(await statusOf(anyone().request(verb, `/api/auth/${path}`)), 429, 'another address has its own')
    })
  }
})
