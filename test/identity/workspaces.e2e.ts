import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { LOCALHOST } from '@rollcall/local'
import { type Connection, connect, newKeySettings, type RpcServer, readTrust, serve } from '@rollcall/rpc'
import { createLifecycle, createLogger, type OwnedLifecycle, pause } from '@rollcall/runtime'
import { type Link, linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient, ObjectId } from 'mongodb'
import { readConfig } from '../../services/gateway/src/config.ts'
import { service as gateway } from '../../services/gateway/src/service.ts'
import { type Answer, type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

type Page<T> = { docs: T[]; totalDocs: number; limit: number }
type Refusal = { message: string; path?: string }
type Actor = { kind: string; id: string | null; name: string }
type Workspace = {
  _id: string
  id: string
  name: string
  image: string | null
  seats: number | null
  features: Record<string, boolean>
  memberCount: number
  createdBy: Actor
}
type Member = { _id: string; id: string; user: string | null; role: string; joinedAt: string }
type Invitation = { _id: string; id: string; email: string; role: string; status: string; expiresAt: string }
type CreatedInvitation = Invitation & { acceptUrl: string }
type Person = { api: Api; id: string; email: string }

const updated = { success: true, message: 'updated' }
const password = 'made for tests only'
const unknownId = 'f'.repeat(24)

let people = 0

describe('workspaces', () => {
  let stack: IdentityStack
  let database: MongoClient
  /** Owner of the organization of most tests. */
  let owner: Person

  before(async () => {
    stack = await startIdentityStack()
    database = new MongoClient(stack.backing.MONGODB_URL)
    owner = await organization()
  })
  after(async () => {
    await database.close()
    await stack.stop()
  })

  const collection = (name: string) => database.db(`${stack.namespace}rollcall_identity`).collection(name)

  /** Registers an organization and returns its owner. */
  const organization = async (): Promise<Person> => {
    const email = `owner${++people}@example.com`
    const visitor = fromElsewhere(stack.api)
    const request = { name: 'Owner', email, password }
    type Registration = { token: string; user: { id: string } }
    const { token, user } = await bodyOf(visitor.post<Registration>('/api/auth/register', request), 201)
    // As if the owner's email were verified, so that others are mailed too.
    await collection('organizations').updateMany({}, { $set: { verified: true } })
    return { api: visitor.as(token), id: user.id, email }
  }
  const signedIn = async (email: string): Promise<Api> => {
    const visitor = fromElsewhere(stack.api)
    const { token } = await bodyOf(visitor.post<{ token: string }>('/api/auth/login', { email, password }))
    return visitor.as(token)
  }
  const newAddress = () => `person${++people}@example.com`
  /** Adds an account to the organization, signed in. */
  const person = async (role = 'user', by = owner): Promise<Person> => {
    const email = newAddress()
    const { id } = await bodyOf(by.api.post<{ id: string }>('/api/users', { name: email, email, password, role }), 201)
    return { api: await signedIn(email), id, email }
  }
  const saveRole = async (permissions: object, kind = 'user', by = owner): Promise<string> => {
    const role = { name: `role ${++people}`, kind, permissions }
    await bodyOf(by.api.post('/api/access-control/save-role', role))
    return role.name
  }
  const create = (fields: object = {}, by = owner) =>
    bodyOf(by.api.post<Workspace>('/api/workspaces', { name: 'Workspace', ...fields }), 201)
  const get = (id: string, by = owner) => bodyOf(by.api.get<Workspace>(`/api/workspaces/${id}`))
  const add = (workspace: Workspace, { email }: Person, role = 'user', by = owner) =>
    by.api.post<Member>(`/api/workspaces/${workspace.id}/members`, { email, role })
  const regulars: Person[] = []
  const joined = new Map<string, number>()
  /** A user who is not in a workspace yet, but in others. */
  const regular = async ({ id }: Workspace): Promise<Person> => {
    const number = joined.get(id) ?? 0
    joined.set(id, number + 1)
    regulars[number] ??= await person()
    return regulars[number]
  }
  /** Adds a user to a workspace: one who is in others too, unless the test changes the account. */
  const memberOf = async (workspace: Workspace, role = 'user', newcomer?: Person) => {
    const someone = newcomer ?? (await regular(workspace))
    const { id: membership } = await bodyOf(add(workspace, someone, role), 201)
    return { ...someone, membership }
  }
  const members = async ({ id }: Workspace, query: object = {}) =>
    (await bodyOf(owner.api.get<Page<Member>>(`/api/workspaces/${id}/members`, { ...query }))).docs
  const invite = (workspace: Workspace, email: string, role = 'user', by = owner) =>
    by.api.post<CreatedInvitation>(`/api/workspaces/${workspace.id}/invitations`, { email, role })
  const invited = (workspace: Workspace, email = newAddress(), role?: string, by?: Person) =>
    bodyOf(invite(workspace, email, role, by), 201)
  const invitations = async ({ id }: Workspace) =>
    (await bodyOf(owner.api.get<Page<Invitation>>(`/api/workspaces/${id}/invitations`))).docs
  const secretOf = ({ acceptUrl }: CreatedInvitation) => acceptUrl.split('/').at(-1)!
  const accept = (
    invitation: CreatedInvitation,
    body: object = { name: 'Invited', password },
    api = fromElsewhere(stack.api),
  ) =>
    api.post<{ workspace: Workspace; role: string; user: { _id: string; name: string } }>(
      `/api/invitations/${secretOf(invitation)}/accept`,
      body,
    )
  const decline = (invitation: CreatedInvitation) =>
    fromElsewhere(stack.api).post<Refusal>(`/api/invitations/${secretOf(invitation)}/decline`)
  const expire = ({ id }: Invitation) =>
    collection('invitations').updateOne({ _id: new ObjectId(id) }, { $set: { expiresAt: new Date(Date.now() - 1) } })
  const eventTypesOf = async (userId: string) => {
    const { docs } = await bodyOf(
      owner.api.get<Page<{ type: string }>>(`/api/users/${userId}/activities`, { $limit: 100 }),
    )
    return docs.map(({ type }) => type)
  }
  /** Requires that an answer is a refusal in the shape of its status. */
  const refused = async (
    answer: Promise<Answer>,
    status: number,
    expected: { path?: string; message?: RegExp } = {},
  ) => {
    const { message, path, ...rest } = (await bodyOf(answer, status)) as Refusal
    assert.deepEqual(rest, 'success' in rest ? { success: false } : { error: true })
    if (expected.path !== undefined) assert.equal(path, expected.path)
    if (expected.message !== undefined) assert.match(message, expected.message)
    return { message, path }
  }

  describe('200 and 201', () => {
    it('creating makes the creator the first member, its owner', async () => {
      const { id, createdBy, ...workspace } = await create({
        name: ' First ',
        image: 'https://example.com/a.png',
        seats: 3,
      })
      assert.deepEqual(
        [workspace.name, workspace.image, workspace.seats, workspace.features, workspace.memberCount],
        ['First', 'https://example.com/a.png', 3, {}, 1],
      )
      assert.deepEqual(createdBy, { kind: 'user', id: owner.id, name: 'Owner' })
      const [first, ...others] = await members({ id } as Workspace)
      assert.deepEqual([first!.user, first!.role, others.length], [owner.id, 'owner', 0])
      assert.deepEqual(await get(id), { ...workspace, id, createdBy })
    })

    it('seats are unlimited where none are named', async () => {
      assert.equal((await create()).seats, null)
      assert.equal((await create({ seats: null })).seats, null)
    })

    it('the list shows one’s own, and all of them with workspaces.read', async () => {
      const mine = await create({ name: 'of the list' })
      const other = await create({ name: 'of the list too' })
      const blind = await person(await saveRole({ links: ['read'] }))
      await bodyOf(add(mine, blind, 'user'), 201)
      const shown = async ({ api }: Person) =>
        (await bodyOf(api.get<Workspace[]>('/api/workspaces', { pagination: false }))).map(({ id }) => id)
      assert.deepEqual(await shown(blind), [mine.id])
      const all = await shown(await person())
      assert.ok(all.includes(mine.id) && all.includes(other.id))
      const lonely = await organization()
      assert.deepEqual(await shown(lonely), [])
    })

    it('a token lists what its creator is in, and all with workspaces.read of its own', async () => {
      const mine = await create()
      const member = await memberOf(mine, 'owner', await person())
      const role = await saveRole({ tokens: ['create'], links: ['read'], workspaces: ['read'] })
      await bodyOf(owner.api.patch(`/api/users/${member.id}/change-role`, { role }))
      const narrow = await makeToken(member.api, { role: await saveRole({ links: ['read'] }, 'api') })
      const wide = await makeToken(member.api, { role: await saveRole({ workspaces: ['read'] }, 'api') })
      const count = async (api: Api) => (await bodyOf(api.get<Page<Workspace>>('/api/workspaces'))).totalDocs
      assert.equal(await count(narrow.api), 1)
      assert.ok((await count(wide.api)) > 1)
    })

    it('an update changes what it names; null seats are unlimited, a null image removes it', async () => {
      const { id } = await create({ image: 'https://example.com/a.png', seats: 2 })
      assert.deepEqual(await bodyOf(owner.api.patch(`/api/workspaces/${id}`, { name: 'Renamed', seats: 5 })), updated)
      const after = await get(id)
      assert.deepEqual([after.name, after.image, after.seats], ['Renamed', 'https://example.com/a.png', 5])
      await bodyOf(owner.api.patch(`/api/workspaces/${id}`, { image: null, seats: null }))
      const cleared = await get(id)
      assert.deepEqual([cleared.name, cleared.image, cleared.seats], ['Renamed', null, null])
    })

    it('deleting takes memberships and invitations along, and no account', async () => {
      const workspace = await create()
      const member = await memberOf(workspace)
      const invitation = await invited(workspace)
      const before = await get(workspace.id)
      assert.deepEqual(await bodyOf(owner.api.delete(`/api/workspaces/${workspace.id}`)), before)
      await refused(owner.api.get(`/api/workspaces/${workspace.id}`), 404)
      await refused(accept(invitation), 404)
      await bodyOf(owner.api.get(`/api/users/${member.id}`))
      const { totalDocs } = await bodyOf(owner.api.get<Page<object>>(`/api/users/${member.id}/workspaces`))
      assert.equal(totalDocs, 0)
    })

    it('a member is an account of the organization, found by its email whatever its case', async () => {
      const workspace = await create()
      const someone = await person()
      const member = await bodyOf(add(workspace, { ...someone, email: someone.email.toUpperCase() }, 'admin'), 201)
      assert.deepEqual([member.user, member.role], [someone.id, 'admin'])
      assert.deepEqual((await members(workspace))[0], member)
      assert.equal((await get(workspace.id)).memberCount, 2)
      assert.ok((await eventTypesOf(owner.id)).includes('member.added'))
    })

    it('populate=user shows who the members are, and no more than that', async () => {
      const workspace = await create()
      const { id, email } = await memberOf(workspace)
      const [member] = (await members(workspace, { populate: 'user' })) as unknown as { user: object }[]
      assert.deepEqual(member!.user, { _id: id, id, name: email, email, image: null })
    })

    it('a role is changed by the id of the user or of the membership, and holds at once', async () => {
      const workspace = await create()
      const member = await memberOf(workspace)
      const rename = (name: string) => member.api.patch(`/api/workspaces/${workspace.id}`, { name })
      await refused(rename('no'), 403, { message: /^Permission denied: workspaces.update$/ })
      const at = (id: string) => `/api/workspaces/${workspace.id}/members/${id}`
      assert.deepEqual(await bodyOf(owner.api.patch(at(member.id), { role: 'admin' })), updated)
      await bodyOf(rename('yes'))
      await bodyOf(owner.api.patch(at(member.membership), { role: 'user' }))
      await refused(rename('no'), 403)
    })

    it('removing a member touches neither the user nor the contact', async () => {
      const workspace = await create()
      const member = await memberOf(workspace)
      const contact = { email: member.email, name: 'the same address' }
      const { id: contactId } = await bodyOf(owner.api.post<{ id: string }>('/api/audience', contact), 201)
      const before = await bodyOf(owner.api.get<object>(`/api/audience/${contactId}`))
      const removed = await bodyOf(owner.api.delete<Member>(`/api/workspaces/${workspace.id}/members/${member.id}`))
      assert.deepEqual([removed.user, removed.id], [member.id, member.membership])
      assert.equal((await get(workspace.id)).memberCount, 1)
      assert.equal((await bodyOf(owner.api.get<{ email: string }>(`/api/users/${member.id}`))).email, member.email)
      assert.deepEqual(await bodyOf(owner.api.get<object>(`/api/audience/${contactId}`)), before)
      await bodyOf(member.api.get('/api/auth/me'))
      await refused(member.api.get(`/api/workspaces/${workspace.id}`), 404)
    })

    it('memberships of a deleted user stay with user: null, take no seat, and go by their own id', async () => {
      const workspace = await create({ seats: 2 })
      const member = await memberOf(workspace, 'user', await person())
      const next = await person()
      await refused(add(workspace, next), 403)
      await bodyOf(owner.api.delete(`/api/users/${member.id}`))
      const [left] = await members(workspace, { filter: { user: null } })
      assert.deepEqual([left!.id, left!.user, left!.role], [member.membership, null, 'user'])
      assert.equal((await get(workspace.id)).memberCount, 1)
      await bodyOf(add(workspace, next), 201)
      await refused(owner.api.delete(`/api/workspaces/${workspace.id}/members/${member.id}`), 404)
      const removed = await bodyOf(owner.api.delete<Member>(`/api/workspaces/${workspace.id}/members/${left!.id}`))
      assert.equal(removed.user, null)
      assert.equal((await get(workspace.id)).memberCount, 2)
    })

    it('an invitation’s link is in the answer that makes it, and nowhere else', async () => {
      const workspace = await create()
      const email = newAddress()
      const { acceptUrl, ...invitation } = await invited(workspace, email, 'admin')
      assert.match(acceptUrl, /^https?:\/\/.+\/invitations\/[A-Za-z0-9]{43,}$/)
      assert.deepEqual([invitation.email, invitation.role, invitation.status], [email, 'admin', 'pending'])
      const days = (Date.parse(invitation.expiresAt) - Date.now()) / 86_400_000
      assert.ok(days > 6.9 && days <= 7, `good for ${days} days`)
      assert.deepEqual(await invitations(workspace), [invitation])
      const stored = JSON.stringify([
        await collection('invitations').find().toArray(),
        await collection('outbox').find().toArray(),
        await collection('activities').find().toArray(),
      ])
      assert.ok(!stored.includes(acceptUrl.split('/').at(-1)!))
    })

    it('a link shows what it offers, until it is answered or expires', async () => {
      const workspace = await create()
      const member = await person()
      const preview = (invitation: CreatedInvitation) =>
        fromElsewhere(stack.api).get<Refusal>(`/api/invitations/${secretOf(invitation)}`)
      for (const [email, hasAccount] of [
        [newAddress(), false],
        [member.email, true],
      ] as const) {
        const invitation = await invited(workspace, email, 'admin')
        const { id: _id, name, image } = workspace
        assert.deepEqual(await bodyOf(preview(invitation)), {
          workspace: { _id, name, image },
          email,
          role: 'admin',
          invitedBy: { name: 'Owner' },
          expiresAt: invitation.expiresAt,
          hasAccount,
        })
        const notFound = { error: true, message: 'invitation not found' }
        if (hasAccount) await expire(invitation)
        else await bodyOf(decline(invitation))
        assert.deepEqual(await bodyOf(preview(invitation), 404), notFound)
      }
      assert.equal((await fromElsewhere(stack.api).get(`/api/invitations/${'x'.repeat(43)}`)).status, 404)
    })

    it('a repetition by Idempotency-Key does not return the link, and invites nobody twice', async () => {
      const workspace = await create()
      const once = owner.api.with({ 'idempotency-key': `invite-${workspace.id}` })
      const email = newAddress()
      await invited(workspace, email, 'user', { ...owner, api: once })
      await refused(invite(workspace, email, 'user', { ...owner, api: once }), 409)
      assert.equal((await invitations(workspace)).length, 1)
    })

    it('accepting creates a missing account, which can sign in', async () => {
      const workspace = await create()
      const email = newAddress()
      const invitation = await invited(workspace, email, 'admin')
      const { user, role, workspace: joined } = await bodyOf(accept(invitation))
      assert.deepEqual([user.name, role], ['Invited', 'admin'])
      const account = await bodyOf(owner.api.get<{ email: string; role: string }>(`/api/users/${user._id}`))
      assert.deepEqual([account.email, account.role], [email, 'user'])
      assert.deepEqual(joined, { _id: workspace.id, name: workspace.name, image: null })
      const api = await signedIn(email)
      await bodyOf(api.patch(`/api/workspaces/${workspace.id}`, { name: 'managed' }))
      assert.equal((await invitations(workspace))[0]!.status, 'accepted')
      assert.deepEqual((await eventTypesOf(user._id)).slice(-3).sort(), [
        'invitation.accepted',
        'member.added',
        'user.created',
      ])
    })

    it('accepting works with the account that is there, whose name and password stay', async () => {
      const workspace = await create()
      const someone = await person()
      const invitation = await invited(workspace, someone.email.toUpperCase())
      const request = { name: 'Other', password: 'another password' }
      const { user } = await bodyOf(accept(invitation, request, someone.api))
      assert.deepEqual(user, { _id: someone.id, name: someone.email })
      const account = await bodyOf(owner.api.get<{ name: string }>(`/api/users/${someone.id}`))
      assert.equal(account.name, someone.email)
      await bodyOf((await signedIn(someone.email)).get(`/api/workspaces/${workspace.id}`))
      const again = await invited(await create(), someone.email)
      await bodyOf(accept(again, {}, someone.api))
    })

    it('declined, revoked and expired invitations free their seat, pending ones take one', async () => {
      const workspace = await create({ seats: 2 })
      const full = () => refused(invite(workspace, newAddress()), 403, { message: /seats/ })
      const declined = await invited(workspace)
      await full()
      assert.equal((await bodyOf(decline(declined))).message, 'declined')
      const revoked = await invited(workspace)
      await full()
      const path = `/api/workspaces/${workspace.id}/invitations/${revoked.id}`
      assert.equal((await bodyOf(owner.api.delete<Invitation>(path))).id, revoked.id)
      const expired = await invited(workspace)
      await full()
      await expire(expired)
      await invited(workspace)
      await full()
      const statuses = (await invitations(workspace)).map(({ status }) => status)
      assert.deepEqual(statuses, ['pending', 'expired', 'declined'])
      const byStatus = `/api/workspaces/${workspace.id}/invitations`
      const { totalDocs } = await bodyOf(owner.api.get<Page<Invitation>>(byStatus, { filter: { status: 'expired' } }))
      assert.equal(totalDocs, 1)
    })

    it('an expired invitation can be sent again', async () => {
      const workspace = await create()
      const email = newAddress()
      await expire(await invited(workspace, email))
      await bodyOf(accept(await invited(workspace, email)))
    })

    it('adding the account of someone who is invited uses the invitation up', async () => {
      const workspace = await create({ seats: 2 })
      const someone = await person()
      const invitation = await invited(workspace, someone.email)
      await bodyOf(add(workspace, someone), 201)
      assert.deepEqual(await invitations(workspace), [])
      await refused(accept(invitation), 404)
    })

    it('members and invitations are pages that honour the list parameters', async () => {
      const workspace = await create()
      for (const role of ['admin', 'user', 'user']) await memberOf(workspace, role)
      for (let n = 0; n < 3; n++) await invited(workspace)
      const base = `/api/workspaces/${workspace.id}`
      const page = await bodyOf(
        owner.api.get<Page<Member>>(`${base}/members`, {
          $limit: 2,
          sort: { role: 1 },
          filter: { role: { $in: ['admin', 'user'] } },
          projection: { role: 1 },
        }),
      )
      assert.deepEqual([page.totalDocs, page.limit], [3, 2])
      assert.deepEqual(
        page.docs.map(({ id: _, _id, ...rest }) => rest),
        [{ role: 'admin' }, { role: 'user' }],
      )
      const all = await bodyOf(owner.api.get<Invitation[]>(`${base}/invitations`, { pagination: false }))
      assert.equal(all.length, 3)
      const query = { filter: { email: all[0]!.email.toUpperCase() } }
      assert.equal((await bodyOf(owner.api.get<Page<Invitation>>(`${base}/invitations`, query))).totalDocs, 1)
      for (const [path, field] of [
        ['members', 'roleId'],
        ['members', 'gone'],
        ['invitations', 'hash'],
        ['invitations', 'sender'],
      ])
        await refused(owner.api.get(`${base}/${path}`, { filter: { [field!]: 1 } }), 400, { path: 'filter' })
      await refused(owner.api.get(`${base}/invitations`, { populate: 'user' }), 400, { path: 'populate' })
    })

    it('a user’s workspaces are a page of {workspace, role, joinedAt}, with the names as they are', async () => {
      const someone = await person()
      const first = await create({ name: 'Before' })
      const second = await create({ name: 'Second', image: 'https://example.com/b.png' })
      await bodyOf(add(first, someone, 'admin'), 201)
      await bodyOf(add(second, someone), 201)
      await bodyOf(owner.api.patch(`/api/workspaces/${first.id}`, { name: 'After' }))
      const path = `/api/users/${someone.id}/workspaces`
      type Entry = { workspace: object; role: string; joinedAt: string }
      const { docs } = await bodyOf(owner.api.get<Page<Entry>>(path))
      assert.deepEqual(
        docs.map(({ workspace, role }) => ({ workspace, role })),
        [
          { workspace: { _id: second.id, name: 'Second', image: 'https://example.com/b.png' }, role: 'user' },
          { workspace: { _id: first.id, name: 'After', image: null }, role: 'admin' },
        ],
      )
      assert.ok(docs.every(({ joinedAt }) => Date.now() - Date.parse(joinedAt) < 60_000))
      const filtered = await bodyOf(owner.api.get<Page<Entry>>(path, { filter: { 'workspace.name': 'After' } }))
      assert.equal(filtered.totalDocs, 1)
    })
  })

  describe('the role in a workspace decides', () => {
    /** Returns one request per action, on a workspace and a spare one of the same members. */
    const attempts = (api: Api, { id }: Workspace): Record<string, () => Promise<Answer>> => ({
      read: () => api.get(`/api/workspaces/${id}/members`),
      create: async () =>
        api.post(`/api/workspaces/${id}/invitations`, { email: (await person()).email, role: 'user' }),
      update: () => api.patch(`/api/workspaces/${id}`, { name: 'Changed' }),
      delete: () => api.delete(`/api/workspaces/${id}`),
    })
    const allowed = async (api: Api, workspace: Workspace) => {
      const done: string[] = []
      for (const [action, attempt] of Object.entries(attempts(api, workspace))) {
        const { status, text } = await attempt()
        if (status < 300) done.push(action)
        else assert.deepEqual([status, JSON.parse(text).message], [403, `Permission denied: workspaces.${action}`])
      }
      return done
    }
    const everything = ['read', 'create', 'update', 'delete']

    for (const [role, expected] of [
      ['owner', everything],
      ['admin', everything],
      ['user', ['read']],
    ] as const) {
      it(`${role} may ${expected.join(', ')}`, async () => {
        const workspace = await create()
        assert.deepEqual(await allowed((await memberOf(workspace, role)).api, workspace), expected)
      })
    }

    it('a custom role of kind user goes by its permissions on workspaces', async () => {
      const workspace = await create()
      const role = await saveRole({ workspaces: ['read', 'update'], users: ['delete'] })
      const { api } = await memberOf(workspace, role)
      assert.deepEqual(await allowed(api, workspace), ['read', 'update'])
      await bodyOf(
        owner.api.post('/api/access-control/save-role', {
          name: role,
          kind: 'user',
          permissions: { workspaces: ['delete'] },
        }),
      )
      assert.deepEqual(await allowed(api, workspace), ['delete'])
    })

    it('a token has its creator’s role in it, whatever its own role allows elsewhere', async () => {
      const workspace = await create()
      const member = await memberOf(workspace, 'admin', await person())
      const role = await saveRole({ tokens: ['create'], links: ['read'], workspaces: ['create'] })
      await bodyOf(owner.api.patch(`/api/users/${member.id}/change-role`, { role }))
      const { api } = await makeToken(member.api, { role: await saveRole({ links: ['read'] }, 'api') })
      await refused(api.post('/api/workspaces', { name: 'New' }), 403, { message: /workspaces.create/ })
      await bodyOf(owner.api.patch(`/api/workspaces/${workspace.id}/members/${member.id}`, { role: 'user' }))
      assert.deepEqual(await allowed(api, workspace), ['read'])
      await bodyOf(owner.api.patch(`/api/workspaces/${workspace.id}/members/${member.id}`, { role: 'admin' }))
      assert.deepEqual(await allowed(api, workspace), everything)
    })

    it('owner and admin of the organization pass, and so do their tokens', async () => {
      const admin = await person('admin')
      const { api: token } = await makeToken(admin.api)
      const outsider = await person(await saveRole({ workspaces: ['create'] }))
      for (const api of [owner.api, admin.api, token]) {
        assert.deepEqual(await allowed(api, await create({}, outsider)), everything)
      }
    })

    it('creating takes workspaces.create of the organization', async () => {
      await refused((await person()).api.post('/api/workspaces', { name: 'New' }), 403, {
        message: /workspaces.create/,
      })
      const creator = await person(await saveRole({ workspaces: ['create'] }))
      const workspace = await create({}, creator)
      assert.deepEqual(await allowed(creator.api, workspace), everything)
    })
  })

  describe('400', () => {
    let workspace: Workspace
    let member: Person
    before(async () => {
      workspace = await create()
      member = await memberOf(workspace)
    })
    const long = (length: number) => 'x'.repeat(length + 1)

    const flawed: [name: string, path: string, body: object, message: string][] = [
      ['name', 'name', { name: undefined }, 'missing'],
      ['name', 'name', { name: '' }, 'invalid'],
      ['name', 'name', { name: '  ' }, 'invalid'],
      ['name', 'name', { name: 7 }, 'invalid'],
      ['name', 'name', { name: null }, 'invalid'],
      ['name', 'name', { name: long(100) }, 'invalid'],
      ['image', 'image', { image: 'no url' }, 'invalid'],
      ['image', 'image', { image: 'javascript:alert(1)' }, 'invalid'],
      ['image', 'image', { image: {} }, 'invalid'],
      ['image', 'image', { image: `https://example.com/${long(2000)}` }, 'invalid'],
      ['seats', 'seats', { seats: 0 }, 'invalid'],
      ['seats', 'seats', { seats: -1 }, 'invalid'],
      ['seats', 'seats', { seats: 1.5 }, 'invalid'],
      ['seats', 'seats', { seats: '5' }, 'invalid'],
      ['seats', 'seats', { seats: 1e9 }, 'invalid'],
      ['seats', 'seats', { seats: [1] }, 'invalid'],
      ['seats', 'seats', { seats: true }, 'invalid'],
      ['features', 'features', { features: [] }, 'invalid'],
      ['features', 'features', { features: null }, 'invalid'],
      ['features', 'features.nope', { features: { nope: true } }, 'extra'],
      ['features', 'features.nope', { features: { nope: 'yes' } }, 'invalid'],
      ['features', 'features.a.b', { features: { 'a.b': true } }, 'extra'],
      ['features', 'features.$set', { features: { $set: true } }, 'extra'],
      ['an unknown field', 'memberCount', { memberCount: 9 }, 'extra'],
      ['an unknown field', 'organization', { organization: unknownId }, 'extra'],
    ]
    for (const [name, path, fields, kind] of flawed) {
      const body = { name: 'Workspace', ...fields }
      it(`a workspace with ${name} ${JSON.stringify(fields).slice(0, 60)} is refused`, async () => {
        const { message } = await refused(owner.api.post('/api/workspaces', body), 400, { path })
        assert.ok(message.startsWith(`${kind} field -> ${path}`), message)
        if (kind === 'missing') return
        await refused(owner.api.patch(`/api/workspaces/${workspace.id}`, fields), 400, { path })
      })
    }

    it('polluting fields are extra ones', async () => {
      const raw = { headers: { 'content-type': 'application/json' } }
      const send = (method: string, path: string, body: string) => owner.api.request(method, path, { ...raw, body })
      await refused(send('POST', '/api/workspaces', '{"name":"x","__proto__":{"a":1}}'), 400, { path: '__proto__' })
      const features = '{"name":"x","features":{"__proto__":true,"constructor":true}}'
      await refused(send('POST', '/api/workspaces', features), 400, { path: 'features.__proto__' })
    })

    it('an update without a field misses one', async () => {
      await refused(owner.api.patch(`/api/workspaces/${workspace.id}`, {}), 400, { path: 'name' })
    })

    for (const where of ['members', 'invitations']) {
      for (const [path, fields, kind] of [
        ['email', { email: undefined }, 'missing'],
        ['role', { role: undefined }, 'missing'],
        ['email', { email: 'no address' }, 'invalid'],
        ['email', { email: '' }, 'invalid'],
        ['email', { email: 7 }, 'invalid'],
        ['email', { email: ['a@example.com'] }, 'invalid'],
        ['email', { email: { $ne: null } }, 'invalid'],
        ['email', { email: `${long(254)}@example.com` }, 'invalid'],
        ['role', { role: '' }, 'invalid'],
        ['role', { role: null }, 'invalid'],
        ['role', { role: long(100) }, 'invalid'],
        ['user', { user: unknownId }, 'extra'],
        ['status', { status: 'accepted' }, 'extra'],
      ] as const) {
        it(`${where} with ${JSON.stringify(fields).slice(0, 60)} are refused`, async () => {
          const body = { email: 'someone@example.com', role: 'user', ...fields }
          const answer = owner.api.post(`/api/workspaces/${workspace.id}/${where}`, body)
          const { message } = await refused(answer, 400, { path })
          assert.ok(message.startsWith(`${kind} field -> ${path}`), message)
        })
      }

      it(`${where} with a role that there is not, or that is for tokens, are refused`, async () => {
        for (const role of ['nobody', await saveRole({ workspaces: ['read'] }, 'api'), '__proto__', 'Owner']) {
          const body = { email: member.email, role }
          const answer = owner.api.post(`/api/workspaces/${workspace.id}/${where}`, body)
          await refused(answer, 400, { path: 'role', message: /^Unknown role: / })
        }
      })
    }

    it('an address that the organization has no account of is refused as a member', async () => {
      const elsewhere = await organization()
      for (const email of [newAddress(), elsewhere.email])
        await refused(add(workspace, { ...member, email }), 400, { path: 'email' })
    })

    it('a member’s new role has to be there, and be one', async () => {
      const path = `/api/workspaces/${workspace.id}/members/${member.id}`
      await refused(owner.api.patch(path, {}), 400, { path: 'role', message: /^missing/ })
      await refused(owner.api.patch(path, { role: 7 }), 400, { path: 'role', message: /^invalid/ })
      await refused(owner.api.patch(path, { role: 'nobody' }), 400, { path: 'role', message: /^Unknown role/ })
      await refused(owner.api.patch(path, { role: 'user', user: unknownId }), 400, { path: 'user', message: /^extra/ })
    })

    it('malformed ids are named', async () => {
      const base = `/api/workspaces/${workspace.id}`
      await refused(owner.api.get('/api/workspaces/nonsense'), 400, { path: 'id' })
      await refused(owner.api.get('/api/workspaces/nonsense/members'), 400, { path: 'id' })
      await refused(owner.api.delete(`${base}/members/nonsense`), 400, { message: /user_?[iI]d/ })
      await refused(owner.api.delete(`${base}/invitations/nonsense`), 400, { message: /invitation_?[iI]d/ })
    })

    it('accepting without an account takes name and password, by the rules of other passwords', async () => {
      const invitation = await invited(workspace)
      for (const [body, path, kind] of [
        [{}, 'name', 'missing'],
        [{ password }, 'name', 'missing'],
        [{ name: 'Invited' }, 'password', 'missing'],
        [{ name: 'Invited', password: 'short' }, 'password', 'invalid'],
        [{ name: 'Invited', password: long(200) }, 'password', 'invalid'],
        [{ name: 'Invited', password: 12345678 }, 'password', 'invalid'],
        [{ name: ' ', password }, 'name', 'invalid'],
        [{ name: long(100), password }, 'name', 'invalid'],
        [{ name: 'Invited', password, role: 'owner' }, 'role', 'extra'],
        [{ name: 'Invited', password, email: 'other@example.com' }, 'email', 'extra'],
      ] as const) {
        const { message } = await refused(accept(invitation, body), 400, { path })
        assert.ok(message.startsWith(`${kind} field -> ${path}`), message)
      }
      await bodyOf(accept(invitation))
    })

    it('an expired invitation can be neither accepted nor declined', async () => {
      const invitation = await invited(workspace)
      await expire(invitation)
      await refused(accept(invitation), 400, { path: 'token', message: /expired/ })
      await refused(decline(invitation), 400, { path: 'token', message: /expired/ })
    })
  })

  describe('403', () => {
    it('without a free seat nobody is added or invited, in the shape of hand-written refusals', async () => {
      const workspace = await create({ seats: 1 })
      const someone = await person()
      for (const attempt of [() => add(workspace, someone), () => invite(workspace, newAddress())]) {
        const body = await bodyOf<object>(attempt(), 403)
        assert.deepEqual(Object.keys(body), ['success', 'message'])
      }
      assert.equal((await get(workspace.id)).memberCount, 1)
      assert.deepEqual(await invitations(workspace), [])
    })

    it('seats are not lowered below the taken ones', async () => {
      const workspace = await create({ seats: 5 })
      await memberOf(workspace)
      await invited(workspace)
      await refused(owner.api.patch(`/api/workspaces/${workspace.id}`, { seats: 2, name: 'no' }), 403)
      assert.deepEqual([(await get(workspace.id)).seats, (await get(workspace.id)).name], [5, 'Workspace'])
      await bodyOf(owner.api.patch(`/api/workspaces/${workspace.id}`, { seats: 3 }))
    })

    it('of those who take the last seat at once, one gets it', async () => {
      const candidates = await Promise.all([person(), person(), person()])
      for (let round = 0; round < 3; round++) {
        const workspace = await create({ seats: 2 })
        const answers = await Promise.all([
          ...candidates.map(someone => add(workspace, someone)),
          invite(workspace, newAddress()),
          invite(workspace, newAddress()),
        ])
        const statuses = answers.map(({ status }) => status).sort()
        assert.deepEqual(statuses, [201, 403, 403, 403, 403])
        for (const { status, body } of answers as Answer<object>[])
          if (status === 403) assert.deepEqual(Object.keys(body), ['success', 'message'])
        const taken = (await members(workspace)).length + (await invitations(workspace)).length
        assert.equal(taken, 2)
      }
    })

    it('of a lowering of the seats and someone who takes one at once, one is refused', async () => {
      const someone = await person()
      for (let round = 0; round < 3; round++) {
        const workspace = await create({ seats: 2 })
        const answers = await Promise.all([
          owner.api.patch(`/api/workspaces/${workspace.id}`, { seats: 1 }),
          add(workspace, someone),
        ])
        assert.equal(answers.filter(({ status }) => status === 403).length, 1)
        const { seats, memberCount } = await get(workspace.id)
        assert.ok(memberCount <= seats!, `${memberCount} members on ${seats} seats`)
      }
    })

    it('nobody can grant more than they have, and only an owner adds another', async () => {
      const workspace = await create()
      const adder = await memberOf(workspace, await saveRole({ workspaces: ['read', 'create', 'update'] }))
      const reader = await person()
      const exceeding = { message: /^Role exceeds your permissions: workspaces.delete$/ }
      await refused(add(workspace, reader, 'admin', adder), 403, exceeding)
      await refused(invite(workspace, (await person()).email, 'admin', adder), 403, exceeding)
      await bodyOf(add(workspace, reader, 'user', adder), 201)
      const path = `/api/workspaces/${workspace.id}/members`
      await refused(adder.api.patch(`${path}/${adder.id}`, { role: 'admin' }), 403, exceeding)
      const admin = await memberOf(workspace, 'admin')
      await refused(adder.api.patch(`${path}/${admin.id}`, { role: 'user' }), 403, exceeding)
      const owners = { message: /^Only an owner may make another owner.$/ }
      await refused(add(workspace, await person(), 'owner', admin), 403, owners)
      await refused(admin.api.patch(`${path}/${admin.id}`, { role: 'owner' }), 403, owners)
    })

    it('only the sender revokes an invitation, in person or by a token', async () => {
      const workspace = await create()
      const sender = await memberOf(workspace, 'admin', await person())
      const other = await memberOf(workspace, 'owner')
      const role = await saveRole({ tokens: ['create'] })
      await bodyOf(owner.api.patch(`/api/users/${sender.id}/change-role`, { role }))
      const { api: token } = await makeToken(sender.api)
      const byPerson = await invited(workspace, (await person()).email, 'user', sender)
      const byToken = await invited(workspace, (await person()).email, 'user', { ...sender, api: token })
      const path = ({ id }: Invitation) => `/api/workspaces/${workspace.id}/invitations/${id}`
      for (const invitation of [byPerson, byToken])
        for (const { api } of [other, owner]) await refused(api.delete(path(invitation)), 403, { message: /sender/ })
      assert.equal((await bodyOf(token.delete<Invitation>(path(byPerson)))).id, byPerson.id)
      assert.equal((await bodyOf(sender.api.delete<Invitation>(path(byToken)))).id, byToken.id)
      await refused(accept(byPerson), 404)
    })

    it('a blocked account does not accept', async () => {
      const workspace = await create()
      const someone = await person()
      const mail = await stack.mailbox.next(someone.email, () => invited(workspace, someone.email))
      const accepting = () =>
        fromElsewhere(stack.api).post(`/api/invitations/${/\/invitations\/(\w+)/.exec(mail)![1]}/accept`)
      await bodyOf(owner.api.patch(`/api/users/${someone.id}/block`))
      await refused(accepting(), 403, { message: /^Account is blocked.$/ })
      await bodyOf(owner.api.patch(`/api/users/${someone.id}/unblock`))
      await bodyOf(accepting())
    })
  })

  describe('404', () => {
    it('a workspace is as unknown to a stranger as one that does not exist', async () => {
      const workspace = await create()
      const member = await memberOf(workspace)
      const { id: invitation } = await invited(workspace)
      const strangers = [
        await person(),
        await person(await saveRole({ workspaces: ['read', 'create', 'update', 'delete'] })),
        await organization(),
      ]
      const requests = (id: string): [string, string, object?][] => [
        ['GET', `/api/workspaces/${id}`],
        ['PATCH', `/api/workspaces/${id}`, { name: 'Changed' }],
        ['DELETE', `/api/workspaces/${id}`],
        ['GET', `/api/workspaces/${id}/members`],
        ['POST', `/api/workspaces/${id}/members`, { email: member.email, role: 'user' }],
        ['PATCH', `/api/workspaces/${id}/members/${member.id}`, { role: 'admin' }],
        ['DELETE', `/api/workspaces/${id}/members/${member.id}`],
        ['GET', `/api/workspaces/${id}/invitations`],
        ['POST', `/api/workspaces/${id}/invitations`, { email: newAddress(), role: 'user' }],
        ['DELETE', `/api/workspaces/${id}/invitations/${invitation}`],
      ]
      for (const { api } of strangers) {
        const ask = async (id: string) => {
          const answers: [number, string][] = []
          for (const [method, path, body] of requests(id)) {
            const { status, text } = await api.request(method, path, body && { body })
            answers.push([status, text])
          }
          return answers
        }
        const unknown = await ask(unknownId)
        assert.deepEqual(new Set(unknown.map(([status]) => status)), new Set([404]))
        assert.deepEqual(await ask(workspace.id), unknown)
      }
      assert.equal((await get(workspace.id)).memberCount, 2)
    })

    it('members and invitations are found in their own workspace alone', async () => {
      const [one, other] = [await create(), await create()]
      const member = await memberOf(one)
      const invitation = await invited(one)
      for (const id of [member.id, member.membership, unknownId]) {
        const path = `/api/workspaces/${other.id}/members/${id}`
        await refused(owner.api.delete(path), 404, { message: /^member not found$/ })
        await refused(owner.api.patch(path, { role: 'admin' }), 404, { message: /^member not found$/ })
      }
      const path = `/api/workspaces/${other.id}/invitations/${invitation.id}`
      await refused(owner.api.delete(path), 404, { message: /^invitation not found$/ })
    })

    it('an unknown link is refused', async () => {
      for (const secret of ['x', 'x'.repeat(60), 'x'.repeat(5000), '%00', '$ne'])
        for (const act of ['accept', 'decline'])
          await refused(fromElsewhere(stack.api).post(`/api/invitations/${secret}/${act}`), 404)
    })
  })

  describe('409', () => {
    it('nobody can be a member twice, or be invited as a member or twice', async () => {
      const workspace = await create()
      const member = await memberOf(workspace)
      await refused(add(workspace, { ...member, email: member.email.toUpperCase() }), 409, { path: 'email' })
      await refused(invite(workspace, member.email.toUpperCase()), 409, {
        path: 'email',
        message: /^duplicate -> email$/,
      })
      const email = newAddress()
      await invited(workspace, email)
      await refused(invite(workspace, email.toUpperCase()), 409, { path: 'email', message: /^duplicate -> email$/ })
    })

    it('of several that add or invite one person at once, one does', async () => {
      const someone = await person()
      for (let round = 0; round < 3; round++) {
        const workspace = await create()
        const added = await Promise.all([1, 2, 3].map(() => add(workspace, someone)))
        assert.deepEqual(added.map(({ status }) => status).sort(), [201, 409, 409])
        const email = newAddress()
        const sent = await Promise.all([1, 2, 3].map(() => invite(workspace, email)))
        assert.deepEqual(sent.map(({ status }) => status).sort(), [201, 409, 409])
      }
    })

    it('the last owner neither leaves nor becomes anything else', async () => {
      const workspace = await create()
      const path = `/api/workspaces/${workspace.id}/members`
      const lastOwner = { message: /last owner/ }
      await refused(owner.api.delete(`${path}/${owner.id}`), 409, lastOwner)
      await refused(owner.api.patch(`${path}/${owner.id}`, { role: 'admin' }), 409, lastOwner)
      assert.deepEqual(await bodyOf(owner.api.patch(`${path}/${owner.id}`, { role: 'owner' })), updated)
      const second = await memberOf(workspace, 'owner', await person())
      await bodyOf(owner.api.delete(`${path}/${owner.id}`))
      await refused(second.api.delete(`${path}/${second.id}`), 409, lastOwner)
      await bodyOf(owner.api.delete(`/api/users/${second.id}`))
      await bodyOf(owner.api.delete(`${path}/${second.membership}`))
    })

    it('of two last owners who leave at once, one stays', async () => {
      for (let round = 0; round < 3; round++) {
        const workspace = await create()
        const second = await memberOf(workspace, 'owner')
        const path = `/api/workspaces/${workspace.id}/members`
        const answers = await Promise.all([
          owner.api.delete(`${path}/${owner.id}`),
          owner.api.patch(`${path}/${second.id}`, { role: 'user' }),
        ])
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
      }
    })

    it('an invitation is answered once', async () => {
      const workspace = await create()
      const accepted = await invited(workspace)
      await bodyOf(accept(accepted))
      await refused(accept(accepted), 409, { message: /was accepted/ })
      await refused(decline(accepted), 409, { message: /was accepted/ })
      const declined = await invited(workspace)
      await bodyOf(decline(declined))
      await refused(accept(declined), 409, { message: /was declined/ })
      await refused(owner.api.delete(`/api/workspaces/${workspace.id}/invitations/${declined.id}`), 409)
    })

    it('of several answers to an invitation at once, one counts', async () => {
      for (let round = 0; round < 3; round++) {
        const workspace = await create({ seats: 2 })
        const email = newAddress()
        const invitation = await invited(workspace, email)
        const answers = await Promise.all([
          accept(invitation),
          accept(invitation),
          accept(invitation),
          decline(invitation),
        ])
        assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409])
        const { totalDocs } = await bodyOf(owner.api.get<Page<object>>('/api/users', { filter: { email } }))
        const { memberCount } = await get(workspace.id)
        const isAccepted = answers[3]!.status === 409
        assert.deepEqual([totalDocs, memberCount], isAccepted ? [1, 2] : [0, 1])
      }
    })

    it('a user who has become a member meanwhile is not added again', async () => {
      const workspace = await create()
      const email = newAddress()
      const [first, other] = [await invited(workspace, email), await invited(await create(), email)]
      await bodyOf(accept(first))
      await bodyOf(accept(other, {}, await signedIn(email)))
      await refused(invite(workspace, email), 409)
    })

    it('a role that memberships carry is not deleted', async () => {
      const name = await saveRole({ workspaces: ['read'] })
      const workspace = await create()
      const member = await memberOf(workspace, name)
      const { docs } = await bodyOf(
        owner.api.get<Page<{ id: string }>>('/api/access-control/roles', { filter: { name } }),
      )
      const path = `/api/access-control/roles/${docs[0]!.id}`
      await refused(owner.api.delete(path), 409)
      const invitation = await invited(workspace, newAddress(), name)
      await bodyOf(owner.api.delete(`/api/workspaces/${workspace.id}/members/${member.id}`))
      await bodyOf(owner.api.delete(path))
      await refused(accept(invitation), 409, { message: /role/ })
    })
  })

  describe('503', () => {
    const deadlineMs = 2_000
    let link: Link
    let lifecycle: OwnedLifecycle
    let url: string

    let home: Connection
    let tenantServer: RpcServer

    /**
     * Another gateway, which reaches the tenant server of the organization through a link. The server calls identity.
     */
    before(async () => {
      const { organization } = await bodyOf(owner.api.get<{ organization: { id: string } }>('/api/auth/me'))
      const { environment } = stack.instances('gateway')[0]!
      const logger = createLogger({ service: 'gateway', level: 'fatal' })
      const tenantKeys = newKeySettings(['gateway']).gateway
      const credentials = 'rollcall.identity.v1.Credentials'
      home = connect({ address: String(environment.IDENTITY_ADDRESS), trust: stack.trust('gateway') })
      const services = { [credentials]: home.client(credentials) }
      tenantServer = await serve({ services, host: LOCALHOST, port: 0, trust: readTrust(tenantKeys), logger })
      link = await linkTo(`${LOCALHOST}:${tenantServer.port}`)
      lifecycle = createLifecycle({ service: 'gateway', logger })
      const config = readConfig({
        ...environment,
        PORT: '0',
        RPC_DEADLINE_MS: String(deadlineMs),
        TENANT_SERVERS: JSON.stringify({ [organization.id]: link.url }),
        TENANT_ASSERTION_KEY: tenantKeys.ASSERTION_KEY,
      })
      url = `http://127.0.0.1:${(await gateway.start(config, lifecycle)).port}`
    })
    after(async () => {
      await lifecycle.stop('the test is over')
      await link.stop()
      await tenantServer.stop()
      home.close()
    })

    for (const mode of ['cut', 'silent'] as const) {
      it(`a token gets no further on the control plane while its tenant server is ${mode}; sessions go on`, async () => {
        const workspace = await create()
        const { id: invitation } = await invited(workspace)
        const { api: token } = await makeToken(owner.api)
        const session = owner.api.at(url)
        const byToken = token.at(url)
        const base = `/api/workspaces/${workspace.id}`
        await bodyOf(byToken.get(`${base}/members`))
        link.become(mode)
        const refusedInTime = async (method: string, path: string, body?: object) => {
          const startedAt = performance.now()
          const { status, headers, text } = await byToken.request(method, path, body && { body })
          assert.equal(status, 503, `${method} ${path}`)
          assert.deepEqual(JSON.parse(text), { error: true, message: 'service unavailable' })
          assert.ok(headers.get('retry-after'))
          assert.ok(performance.now() - startedAt < scaledTimeout(deadlineMs + 1_000), 'within the deadline')
        }
        await Promise.all([
          refusedInTime('GET', `${base}/members`),
          refusedInTime('POST', `${base}/members`, { email: 'nobody@example.com', role: 'user' }),
          refusedInTime('PATCH', `${base}/members/${owner.id}`, { role: 'admin' }),
          refusedInTime('DELETE', `${base}/members/${owner.id}`),
          refusedInTime('GET', `${base}/invitations`),
          refusedInTime('POST', `${base}/invitations`, { email: 'nobody@example.com', role: 'user' }),
          refusedInTime('DELETE', `${base}/invitations/${invitation}`),
        ])
        await bodyOf(byToken.get(base))
        await bodyOf(byToken.get('/api/users'))
        await bodyOf(session.get(`${base}/members`))
        await bodyOf(session.post(`${base}/invitations`, { email: newAddress(), role: 'user' }), 201)
        link.become('open')
        for (let waitedMs = 0; (await byToken.get(`${base}/members`)).status !== 200; waitedMs += 50) {
          assert.ok(waitedMs < scaledTimeout(10_000), 'the tenant server is reached again')
          await pause(50)
        }
      })
    }

    it('HEAD and a token in a cookie ask the tenant server too', async () => {
      const workspace = await create()
      const { token } = await makeToken(owner.api)
      const path = `/api/workspaces/${workspace.id}/members`
      const asks = [
        { method: 'HEAD', headers: { authorization: token } },
        { method: 'HEAD', headers: { cookie: `auth_token=${token}` } },
        { method: 'GET', headers: { cookie: `auth_token=${token}` } },
        { method: 'GET', headers: { cookie: `authorization=${encodeURIComponent(`Bearer ${token}`)}` } },
      ]
      const statuses = () =>
        Promise.all(
          asks.map(async ({ method, headers }) => (await fetch(new URL(path, url), { method, headers })).status),
        )
      assert.deepEqual(await statuses(), [200, 200, 200, 200])
      link.become('cut')
      assert.deepEqual(await statuses(), [503, 503, 503, 503])
      assert.equal((await owner.api.at(url).request('HEAD', path)).status, 200)
      link.become('open')
      for (let waitedMs = 0; (await statuses()).some(status => status !== 200); waitedMs += 50) {
        assert.ok(waitedMs < scaledTimeout(10_000), 'the tenant server is reached again')
        await pause(50)
      }
    })

    it('a token that was revoked is refused there at once', async () => {
      const workspace = await create()
      const { api, id } = await makeToken(owner.api)
      const members = () => api.at(url).get(`/api/workspaces/${workspace.id}/members`)
      await bodyOf(members())
      await bodyOf(owner.api.patch(`/api/tokens/${id}`, { active: false }))
      assert.equal((await members()).status, 401)
    })
  })

  describe('features', () => {
    type Feature = { id: string; slug: string; name: string; description: string; default: boolean; roles: object }
    let admin: Person
    before(async () => {
      admin = await organization()
    })
    const define = (fields: object = {}, by = admin) =>
      by.api.post<Feature>('/api/features', { slug: `feature-${++people}`, ...fields })
    const defined = (fields?: object, by?: Person) => bodyOf(define(fields, by), 201)
    const resolved = ({ id }: Person) => bodyOf(admin.api.get<Record<string, boolean>>(`/api/users/${id}/features`))
    const set = ({ id }: Person, features: unknown) => admin.api.put(`/api/users/${id}/features`, { features })

    it('201: a definition is off by default, and named after its slug', async () => {
      const slug = `feature-${++people}`
      const { id, ...feature } = await defined({ slug })
      assert.deepEqual(
        [feature.slug, feature.name, feature.description, feature.default, feature.roles],
        [slug, slug, '', false, {}],
      )
      assert.deepEqual(await bodyOf(admin.api.get(`/api/features/${id}`)), { id, ...feature })
      const page = await bodyOf(admin.api.get<Page<Feature>>('/api/features', { filter: { slug } }))
      assert.equal(page.totalDocs, 1)
    })

    it('200: the default holds, then what the role says, then the user’s own', async () => {
      const role = await saveRole({ links: ['read'] }, 'user', admin)
      const { slug, id } = await defined({ default: false, roles: { [role]: true, admin: true } })
      const [carrier, other] = [await person(role, admin), await person('user', admin)]
      const state = async () => [(await resolved(carrier))[slug], (await resolved(other))[slug]]
      assert.deepEqual(await state(), [true, false])
      assert.deepEqual(await bodyOf(set(other, { [slug]: true })), updated)
      await bodyOf(set(carrier, { [slug]: false }))
      assert.deepEqual(await state(), [false, true])
      await bodyOf(set(carrier, { [slug]: null }))
      await bodyOf(admin.api.patch(`/api/features/${id}`, { default: true, roles: { [role]: null } }))
      assert.deepEqual(await state(), [true, true])
      await bodyOf(set(other, { [slug]: null }))
      assert.deepEqual(await state(), [true, true])
      await bodyOf(admin.api.patch(`/api/features/${id}`, { roles: { user: false } }))
      assert.deepEqual(await state(), [true, false])
    })

    it('200: a change of some overrides leaves the others', async () => {
      const [one, two] = [await defined(), await defined()]
      const someone = await person('user', admin)
      await bodyOf(set(someone, { [one.slug]: true }))
      await bodyOf(set(someone, { [two.slug]: true }))
      const features = await resolved(someone)
      assert.deepEqual([features[one.slug], features[two.slug]], [true, true])
    })

    it('200: deleting one takes what users, workspaces and roles had switched of it', async () => {
      const { slug, id } = await defined({ roles: { user: true } })
      const someone = await person('user', admin)
      await bodyOf(set(someone, { [slug]: true }))
      const workspace = await create({ features: { [slug]: true } }, admin)
      assert.deepEqual(workspace.features, { [slug]: true })
      assert.equal((await bodyOf(admin.api.delete<Feature>(`/api/features/${id}`))).slug, slug)
      assert.ok(!(slug in (await resolved(someone))))
      assert.deepEqual((await get(workspace.id, admin)).features, {})
      await defined({ slug })
      assert.equal((await resolved(someone))[slug], false)
    })

    it('200: what a deleted role switched is gone, also for a role that takes its name', async () => {
      const role = await saveRole({ links: ['read'] }, 'user', admin)
      const { id, slug } = await defined({ roles: { [role]: true, user: true } })
      type Roles = Page<{ id: string }>
      const { docs } = await bodyOf(admin.api.get<Roles>('/api/access-control/roles', { filter: { name: role } }))
      await bodyOf(admin.api.delete(`/api/access-control/roles/${docs[0]!.id}`))
      assert.deepEqual((await bodyOf(admin.api.get<Feature>(`/api/features/${id}`))).roles, { user: true })
      await bodyOf(admin.api.post('/api/access-control/save-role', { name: role, kind: 'user', permissions: {} }))
      assert.equal((await resolved(await person(role, admin)))[slug], false)
    })

    it('200: a workspace switches flags for itself, known ones only, which says nothing about its members', async () => {
      const { slug } = await defined()
      const { slug: other } = await defined()
      const workspace = await create({ features: { [slug]: true } }, admin)
      await bodyOf(admin.api.patch(`/api/workspaces/${workspace.id}`, { features: { [other]: false } }))
      assert.deepEqual((await get(workspace.id, admin)).features, { [slug]: true, [other]: false })
      await bodyOf(admin.api.patch(`/api/workspaces/${workspace.id}`, { features: { [slug]: null } }))
      assert.deepEqual((await get(workspace.id, admin)).features, { [other]: false })
      assert.equal((await resolved(admin))[slug], false)
    })

    for (const [fields, path, kind] of [
      [{ slug: undefined }, 'slug', 'missing'],
      [{ slug: '' }, 'slug', 'invalid'],
      [{ slug: 'Upper' }, 'slug', 'invalid'],
      [{ slug: '1st' }, 'slug', 'invalid'],
      [{ slug: 'a.b' }, 'slug', 'invalid'],
      [{ slug: '__proto__' }, 'slug', 'invalid'],
      [{ slug: 'x'.repeat(41) }, 'slug', 'invalid'],
      [{ slug: 7 }, 'slug', 'invalid'],
      [{ name: '' }, 'name', 'invalid'],
      [{ name: 'x'.repeat(101) }, 'name', 'invalid'],
      [{ description: 'x'.repeat(1001) }, 'description', 'invalid'],
      [{ default: 'yes' }, 'default', 'invalid'],
      [{ default: null }, 'default', 'invalid'],
      [{ roles: [] }, 'roles', 'invalid'],
      [{ roles: { user: 'yes' } }, 'roles.user', 'invalid'],
      [{ roles: { nobody: true } }, 'roles.nobody', 'extra'],
      [{ enabled: true }, 'enabled', 'extra'],
    ] as const) {
      it(`400: a definition with ${JSON.stringify(fields).slice(0, 60)} is refused`, async () => {
        const { message } = await refused(define(fields), 400, { path })
        assert.ok(message.startsWith(`${kind} field -> ${path}`), message)
      })
    }

    it('400: the slug is immutable, and an update needs a field', async () => {
      const { id } = await defined()
      await refused(admin.api.patch(`/api/features/${id}`, { slug: 'other' }), 400, { path: 'slug', message: /^extra/ })
      await refused(admin.api.patch(`/api/features/${id}`, {}), 400, { message: /^missing/ })
    })

    it('400: overrides are of known slugs, and true, false or null', async () => {
      const { slug } = await defined()
      const path = `/api/users/${admin.id}/features`
      await refused(admin.api.put(path, {}), 400, { path: 'features', message: /^missing/ })
      await refused(set(admin, { [slug]: true, unknown: true }), 400, { path: 'features.unknown', message: /^extra/ })
      await refused(set(admin, { [slug]: 'on' }), 400, { path: `features.${slug}`, message: /^invalid/ })
      await refused(set(admin, [slug]), 400, { path: 'features' })
      const raw = { headers: { 'content-type': 'application/json' }, body: '{"features":{"__proto__":true}}' }
      await refused(admin.api.request('PUT', path, raw), 400, { path: 'features.__proto__', message: /^extra/ })
      const elsewhere = await defined({}, owner)
      await refused(set(admin, { [elsewhere.slug]: true }), 400, { message: /^extra/ })
      assert.equal((await resolved(admin))[slug], false)
    })

    it('404: of another organization they are as unknown as those that do not exist', async () => {
      const { id } = await defined({}, owner)
      for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
        const ask = (id: string) => admin.api.request(method, `/api/features/${id}`, body && { body })
        const [foreign, unknown] = [await ask(id), await ask(unknownId)]
        assert.deepEqual([foreign.status, foreign.text], [404, unknown.text])
      }
      await refused(admin.api.put(`/api/users/${owner.id}/features`, { features: {} }), 404)
      await refused(admin.api.get(`/api/users/${owner.id}/features`), 404)
    })

    it('409: a slug is taken once in an organization', async () => {
      const { slug } = await defined()
      await refused(define({ slug }), 409, { path: 'slug', message: /^duplicate -> slug$/ })
      await defined({ slug }, owner)
    })
  })
})
