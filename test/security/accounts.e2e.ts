import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Collection, MongoClient, ObjectId } from 'mongodb'
import { type Answer, type Api, bodyOf, makeToken, signIn } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { type Mailbox, openMailbox } from '../identity/mailbox.ts'
import { addPerson, type Person, password, type Refusal, saveRole, unique } from '../identity/people.ts'
import { startStack, type TestStack } from '../stack.ts'

type Page<T> = { docs: T[]; totalDocs: number }
type Invitation = { id: string; acceptUrl: string }
type User = { id: string; email: string; emailVerified: boolean; name: string }

let stack: TestStack
let mailbox: Mailbox
let owner: Api
let database: MongoClient
let users: Collection

before(async () => {
  mailbox = await openMailbox()
  stack = await startStack({ settings: { ...manyAddresses, ...mailbox.settings, REGISTRATION: 'open' } })
  owner = fromElsewhere(stack.owner)
  database = new MongoClient(stack.backing.MONGODB_URL)
  users = database.db(`${stack.namespace}rollcall_identity`).collection('users')
})
after(async () => {
  await database?.close()
  await stack?.stop()
  await mailbox.remove()
})

const newAddress = () => `${unique('address')}@example.com`
const elsewhere = () => fromElsewhere(stack.api)
const refused = async (answer: Promise<Answer<unknown>>, status: number, message?: RegExp) => {
  const refusal = (await bodyOf(answer, status)) as Refusal
  if (message) assert.match(refusal.message, message)
}
const userOf = async (email: string) => {
  const { docs } = await bodyOf(fromElsewhere(owner).get<Page<User>>('/api/users', { filter: { email } }))
  return docs[0]
}

describe('finding 1: invitation links', () => {
  const createWorkspace = async (api: Api) =>
    (await bodyOf(api.post<{ id: string }>('/api/workspaces', { name: unique('workspace') }), 201)).id
  const invite = (api: Api, workspace: string, email: string) =>
    api.post<Invitation>(`/api/workspaces/${workspace}/invitations`, { email, role: 'user' })
  const secretIn = (text: string) => /\/invitations\/(\w+)/.exec(text)![1]!
  const accept = (secret: string, body: object = {}, api = elsewhere()) =>
    api.post<{ user: object }>(`/api/invitations/${secret}/accept`, body)
  const newcomer = { name: 'Newcomer', password }
  /** Invites by the owner; returns the secrets of the link in the answer and of the mailed link. */
  const invited = async (email: string) => {
    const workspace = await createWorkspace(owner)
    let answered = ''
    const mail = await mailbox.next(email, async () => {
      answered = secretIn((await bodyOf(invite(owner, workspace, email), 201)).acceptUrl)
    })
    return { answered, mailed: secretIn(mail) }
  }

  it('a token with only links.read gets no account that reads the audience', async () => {
    const role = await saveRole(owner, { links: ['read'] })
    await createWorkspace(owner)
    const { api: leaked } = await makeToken(owner, { role: role.name })
    await refused(leaked.get('/api/audience/export'), 403)
    const { docs } = await bodyOf(leaked.get<Page<{ id: string }>>('/api/workspaces'))
    const email = newAddress()
    const invitation = await invite(leaked, docs[0]!.id, email)
    if (invitation.status === 201) {
      await bodyOf(accept(secretIn(invitation.body.acceptUrl), newcomer))
      const thief = await signIn(elsewhere(), email, password)
      assert.notEqual((await thief.get('/api/audience/export')).status, 200, 'the audience was exported')
    }
    await refused(Promise.resolve(invitation), 403, /users\.create/)
    assert.equal(await userOf(email), undefined)
  })

  it('a person of a narrow role invites an address without an account only with users.create and all of role user', async () => {
    const workspace = await createWorkspace(owner)
    for (const permissions of [{ links: ['read'] }, { users: ['create'] }]) {
      const { name } = await saveRole(owner, permissions, { kind: 'user' })
      const { api, email } = await addPerson(stack, name)
      await bodyOf(owner.post(`/api/workspaces/${workspace}/members`, { email, role: 'admin' }), 201)
      await refused(invite(api, workspace, newAddress()), 403)
      const colleague = await addPerson(stack)
      await bodyOf(invite(api, workspace, colleague.email), 201)
    }
  })

  it('an invitation of an account creates no other if that was deleted meanwhile', async () => {
    const workspace = await createWorkspace(owner)
    const { name } = await saveRole(owner, { links: ['read'] }, { kind: 'user' })
    const { api, email } = await addPerson(stack, name)
    await bodyOf(owner.post(`/api/workspaces/${workspace}/members`, { email, role: 'admin' }), 201)
    const colleague = await addPerson(stack)
    const { acceptUrl } = await bodyOf(invite(api, workspace, colleague.email), 201)
    await bodyOf(owner.delete(`/api/users/${colleague.id}`))
    await refused(accept(secretIn(acceptUrl), newcomer), 409, /another invitation/)
    assert.equal(await userOf(colleague.email), undefined)
  })

  it('the answered link proves no mailbox, the mailed one does', async () => {
    const [unproven, proven] = [newAddress(), newAddress()]
    const { answered } = await invited(unproven)
    await bodyOf(accept(answered, newcomer))
    assert.equal((await userOf(unproven))!.emailVerified, false)
    const { mailed } = await invited(proven)
    await bodyOf(accept(mailed, newcomer))
    assert.equal((await userOf(proven))!.emailVerified, true)
  })

  it('the link in the answer adds an account only if its user is signed in', async () => {
    const [invitee, other] = [await addPerson(stack), await addPerson(stack)]
    const { answered } = await invited(invitee.email)
    const token = (await makeToken(owner)).api
    const { token: impersonation } = await bodyOf(
      owner.post<{ token: string }>('/api/auth/impersonate', { userId: invitee.id }),
    )
    const asInvitee = elsewhere().as(impersonation)
    for (const api of [elsewhere(), other.api, owner, token, asInvitee]) {
      const { status, text } = await accept(answered, newcomer, fromElsewhere(api))
      assert.deepEqual([status, text], [401, 'Unauthorized'])
    }
    await bodyOf(accept(answered, {}, invitee.api))
  })

  it('a page of another site accepts nothing by the cookie of its visitor', async () => {
    const invitee = await addPerson(stack)
    const { answered } = await invited(invitee.email)
    const cookie = `auth_token=${invitee.api.headers.authorization}`
    const from = (site: string) => elsewhere().with({ cookie, 'sec-fetch-site': site })
    assert.equal((await accept(answered, {}, from('cross-site'))).status, 401)
    await bodyOf(accept(answered, {}, from('same-origin')))
  })

  it('the mailed link joins the account, and the answer shows no more of it than its name', async () => {
    const invitee = await addPerson(stack)
    const { mailed } = await invited(invitee.email)
    const { user } = await bodyOf(accept(mailed))
    assert.deepEqual(user, { _id: invitee.id, name: 'Person' })
  })

  it('both links are worth nothing once one is used', async () => {
    const { answered, mailed } = await invited(newAddress())
    await bodyOf(accept(mailed, newcomer))
    for (const secret of [answered, mailed]) await refused(accept(secret, newcomer), 409, /was accepted/)
  })
})

describe('finding 15: rank', () => {
  type Line = { sessionRef: string; deviceId: string }
  /** Every change of an account, by its name. */
  const changes = (api: Api, { id }: Person): Record<string, () => Promise<Answer>> => {
    const path = `/api/users/${id}`
    const firstOf = async (view: string) =>
      (await bodyOf(fromElsewhere(owner).get<Page<Line>>(`${path}/${view}`))).docs[0]!
    const by = () => fromElsewhere(api)
    return {
      'update the profile': () => by().patch(path, { name: 'Renamed' }),
      tag: () => by().patch(`${path}/tags`, { tags: ['tagged'] }),
      'set features': () => by().put(`${path}/features`, { features: {} }),
      'change the role': () => by().patch(`${path}/change-role`, { role: 'user' }),
      'revoke a session': async () => by().delete(`${path}/sessions/${(await firstOf('sessions')).sessionRef}`),
      'revoke a device': async () => by().delete(`${path}/devices/${(await firstOf('devices')).deviceId}`),
      block: () => by().patch(`${path}/block`),
      unblock: () => by().patch(`${path}/unblock`),
      delete: () => by().delete(path),
    }
  }
  const everything = async () => {
    const catalogue = await bodyOf(
      fromElsewhere(owner).get<{ resource: string; actions: string[] }[]>('/api/access-control/permissions'),
    )
    return Object.fromEntries(catalogue.map(({ resource, actions }) => [resource, actions]))
  }
  const powerless = async () => {
    const { name } = await saveRole(owner, await everything(), { kind: 'user' })
    return addPerson(stack, name)
  }
  const stateOf = async ({ id, api }: Person) => [
    await bodyOf(fromElsewhere(owner).get(`/api/users/${id}`)),
    (await fromElsewhere(api).get('/api/auth/me')).status,
  ]

  it('an admin changes nothing about an owner, nor does a custom role about either', async () => {
    const [admin, other, second] = [await addPerson(stack, 'admin'), await powerless(), await addPerson(stack, 'owner')]
    for (const [by, whom] of [
      [admin, second],
      [other, second],
      [other, admin],
    ] as const) {
      const before = await stateOf(whom)
      for (const [what, attempt] of Object.entries(changes(by.api, whom))) {
        const { status, text } = await attempt()
        assert.deepEqual([what, status], [what, 403], text)
      }
      assert.deepEqual(await stateOf(whom), before)
    }
    await refused(admin.api.post('/api/auth/impersonate', { userId: second.id }), 403)
  })

  it('the rank comes before the last owner', async () => {
    const registration = { name: 'Founder', email: newAddress(), password }
    const { token, user } = await bodyOf(
      elsewhere().post<{ token: string; user: User }>('/api/auth/register', registration),
      201,
    )
    const founder = elsewhere().as(token)
    const email = newAddress()
    await bodyOf(founder.post('/api/users', { name: 'Admin', email, password, role: 'admin' }), 201)
    const admin = await signIn(elsewhere(), email, password)
    await refused(admin.patch(`/api/users/${user.id}/block`), 403)
    await refused(admin.delete(`/api/users/${user.id}`), 403)
    await refused(admin.patch(`/api/users/${user.id}/change-role`, { role: 'user' }), 403)
  })

  it('those of one rank, and oneself, can be changed', async () => {
    const [admin, other] = [await addPerson(stack, 'admin'), await addPerson(stack, 'admin')]
    for (const [what, attempt] of Object.entries(changes(admin.api, other))) {
      if (['revoke a session', 'revoke a device'].includes(what)) await signIn(elsewhere(), other.email, password)
      const { status, text } = await attempt()
      assert.deepEqual([what, status], [what, 200], text)
    }
    await bodyOf(admin.api.patch(`/api/users/${admin.id}`, { name: 'Myself' }))
  })

  it('a custom role that allows everything makes nobody an admin, itself included', async () => {
    const other = await powerless()
    const plain = await addPerson(stack)
    for (const { id } of [other, plain]) {
      const path = `/api/users/${id}/change-role`
      await refused(other.api.patch(path, { role: 'admin' }), 403, /Only an owner or admin/)
    }
    const account = { name: 'New', email: newAddress(), password, role: 'admin' }
    await refused(other.api.post('/api/users', account), 403, /Only an owner or admin/)
    assert.equal(await userOf(account.email), undefined)
  })

  it('a role that holds more than oneself is neither emptied nor deleted', async () => {
    const { name } = await saveRole(owner, { roles: ['create', 'delete', 'read'] }, { kind: 'user' })
    const { api } = await addPerson(stack, name)
    const rich = await saveRole(owner, { users: ['delete'], links: ['read'] })
    const emptied = { name: rich.name, kind: 'api', permissions: { roles: ['read'] } }
    await refused(api.post('/api/access-control/save-role', emptied), 403, /links\.read, users\.delete/)
    await refused(api.delete(`/api/access-control/roles/${rich.id}`), 403, /links\.read, users\.delete/)
    const own = await saveRole(owner, { roles: ['read', 'create'] })
    await bodyOf(api.post('/api/access-control/save-role', { ...emptied, name: own.name }))
    await bodyOf(api.delete(`/api/access-control/roles/${own.id}`))
  })

  it('a token with only users.delete does not end an owner’s sessions', async () => {
    const { name } = await saveRole(owner, { users: ['delete'] }, { kind: 'user' })
    const [{ api }, second] = [await addPerson(stack, name), await addPerson(stack, 'owner')]
    const { 'revoke a session': session, 'revoke a device': device } = changes(api, second)
    await refused(session!(), 403)
    await refused(device!(), 403)
    await bodyOf(fromElsewhere(second.api).get('/api/auth/me'))
  })

  it('an admin of a workspace neither demotes nor removes an owner of it', async () => {
    const { id } = await bodyOf(owner.post<{ id: string }>('/api/workspaces', { name: unique('workspace') }), 201)
    const path = `/api/workspaces/${id}/members`
    const [admin, second] = [await addPerson(stack), await addPerson(stack)]
    await bodyOf(owner.post(path, { email: admin.email, role: 'admin' }), 201)
    await bodyOf(owner.post(path, { email: second.email, role: 'owner' }), 201)
    await refused(admin.api.patch(`${path}/${second.id}`, { role: 'user' }), 403, /owner/)
    await refused(admin.api.delete(`${path}/${second.id}`), 403, /owner/)
    await bodyOf(second.api.delete(`${path}/${admin.id}`))
  })
})

describe('findings 18 and 19: email addresses', () => {
  const kelvin = (address: string) => `\u212A${address}`
  /** Every route that accepts an address. */
  const takers = (email: string): Record<string, () => Promise<Answer>> => ({
    'an account': () => fromElsewhere(owner).post('/api/users', { name: 'New', email, password }),
    'a registration': () => elsewhere().post('/api/auth/register', { name: 'New', email, password }),
    'a sign-in code': () => elsewhere().post('/api/auth/otp/request', { email }),
    'a contact': () => fromElsewhere(owner).post('/api/audience', { email }),
  })
  for (const [what, email] of [
    ['a quoted local part', '"evil@e.com x"@example.com'],
    ['a letter that passes for another', kelvin('evin@example.com')],
    ['an invisible letter', 'ow\u200Bner@example.com'],
  ] as const) {
    it(`${what} is refused wherever an address is taken`, async () => {
      for (const [where, post] of Object.entries(takers(email))) {
        const { status, text } = await post()
        assert.deepEqual([where, status], [where, 400], text)
      }
    })
  }

  it('an international domain is one, however it is written', async () => {
    const local = unique('person')
    const [first, second] = [`${local}@bücher.example`, `${local}@xn--bcher-kva.example`]
    for (const path of ['/api/users', '/api/audience']) {
      const { email } = await bodyOf(owner.post<User>(path, { name: 'One', email: first }), 201)
      assert.equal(email, second)
      await refused(owner.post(path, { name: 'Other', email: second.toUpperCase() }), 409)
      const found = await bodyOf(owner.get<Page<User>>(path, { filter: { email: first } }))
      assert.equal(found.totalDocs, 1)
    }
  })

  it('a sign-in code goes to the address given, not to an account that passes for it', async () => {
    const victim = `k${unique('victim')}@example.com`
    const registration = { name: 'Attacker', email: newAddress(), password }
    const { user } = await bodyOf(elsewhere().post<{ user: User }>('/api/auth/register', registration), 201)
    const lookalike = kelvin(victim.slice(1))
    // Like an account from before such addresses were refused.
    await users.updateOne({ _id: new ObjectId(user.id) }, { $set: { email: lookalike, emailKey: victim } })
    await bodyOf(fromElsewhere(owner).post('/api/users', { name: 'Victim', email: victim, password }), 201)
    const request = () => elsewhere().post('/api/auth/otp/request', { email: victim })
    assert.match(await mailbox.next(victim, () => bodyOf(request())), /\d{6}/)
    assert.deepEqual(await mailbox.to(lookalike), [])
  })
})

describe('finding 9: control characters in names', () => {
  for (const [what, name] of [
    ['a line break', 'Bank\nYour account is suspended: https://evil.example'],
    ['a null character', 'Bank\u0000'],
    ['a line separator', 'Bank\u2028Suspended'],
    ['an escape', '\u001b[2JBank'],
  ] as const) {
    it(`${what} is refused in every name`, async () => {
      const email = newAddress()
      const me = (await bodyOf(owner.get<{ user: User }>('/api/auth/me'))).user.id
      const attempts: Record<string, () => Promise<Answer>> = {
        'an account': () => owner.post('/api/users', { name, email, password }),
        'a profile': () => owner.patch(`/api/users/${me}`, { name }),
        'an organization': () =>
          elsewhere().post('/api/auth/register', { name: 'X', organization: name, email, password }),
        'its owner': () => elsewhere().post('/api/auth/register', { name, email, password }),
        'a workspace': () => owner.post('/api/workspaces', { name }),
        'a list': () => owner.post('/api/audience-lists', { name }),
        'a token': () => owner.post('/api/tokens', { name }),
        'a role': () =>
          owner.post('/api/access-control/save-role', { name, kind: 'api', permissions: { links: ['read'] } }),
        'a sender': () => owner.post('/api/emails/senders', { name, email, delivery: 'smtp' }),
        'a contact': () => owner.post('/api/audience', { name, email }),
        'an invited person': () => elsewhere().post('/api/invitations/x/accept', { name, password }),
      }
      for (const [where, attempt] of Object.entries(attempts)) {
        const { status, text } = await attempt()
        const path = where === 'an organization' ? 'organization' : 'name'
        assert.deepEqual([where, status, JSON.parse(text).path], [where, 400, path], text)
      }
    })
  }

  it('a description may have lines, a password any character', async () => {
    const description = 'First line\nsecond line'
    const { id } = await bodyOf(
      owner.post<{ id: string }>('/api/audience-lists', { name: unique('list'), description }),
      201,
    )
    const list = await bodyOf(owner.get<{ description: string }>(`/api/audience-lists/${id}`))
    assert.equal(list.description, description)
    const odd = { name: 'Odd', email: newAddress(), password: 'tab\tand \u0007 bell' }
    await bodyOf(fromElsewhere(owner).post('/api/users', odd), 201)
    await signIn(elsewhere(), odd.email, odd.password)
  })
})

describe('spec row 93: workspaces and tokens of a custom role', () => {
  it('a token of an admin passes into every workspace, as the admin does, whatever its own role', async () => {
    const [admin, creator] = [await addPerson(stack, 'admin'), await addPerson(stack, 'admin')]
    const { id } = await bodyOf(creator.api.post<{ id: string }>('/api/workspaces', { name: 'Foreign' }), 201)
    const role = await saveRole(owner, { links: ['read'] })
    const token = await makeToken(admin.api, { role: role.name })
    await bodyOf(token.api.get(`/api/workspaces/${id}/members`))
    await bodyOf(token.api.patch(`/api/workspaces/${id}`, { name: 'Renamed' }))
    await bodyOf(owner.patch(`/api/users/${admin.id}/change-role`, { role: 'user' }))
    await refused(token.api.get(`/api/workspaces/${id}/members`), 404)
  })
})
