import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Caller } from '@rollcall/rpc'
import mongoose from 'mongoose'
import { type Api, type Harness, type Json, PASSWORD, type Person, startHarness, unique } from '../../test/identity.ts'

describe('workspaces', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness({ CONSOLE_URL: 'https://console.example.com/' })
    owner = await harness.register()
  })
  after(() => harness.stop())

  const create = async (request: { seats?: number } = {}) =>
    String((await owner.api.workspaces.createWorkspace({ name: 'Workspace', ...request })).id)
  const newAddress = () => `${unique('invited')}@example.com`
  const invite = (id: string, email = newAddress(), api: Api = owner.api) =>
    api.invitations.createInvitation({ id, email, role: 'user' })
  const accept = ({ acceptUrl }: Json) =>
    harness.public.invitations.acceptInvitation({
      token: String(acceptUrl).split('/').at(-1)!,
      name: 'Invited',
      password: PASSWORD,
    })
  const acceptMailed = (email: string, api: Api = harness.public) => {
    const { text } = harness.mails.findLast(({ to }) => to === email)!
    return api.invitations.acceptInvitation({ token: /\/invitations\/(\w+)/.exec(text)![1]! })
  }
  /** Adds a person whose mailbox nobody has proven. */
  const addUnproven = async (organizationId = owner.organizationId) => {
    const person = await harness.addPerson(organizationId, 'user')
    await harness.db.collection('users').updateOne({ emailKey: person.email }, { $set: { emailVerified: false } })
    return person
  }
  const eventsOf = async (subject: unknown) => {
    const about = { 'event.subject': String(subject) }
    const entries = await harness.db.collection('outbox').find(about).sort({ at: 1, _id: 1 }).toArray()
    return entries.map(({ event }) => JSON.parse(JSON.stringify(event)) as Json)
  }
  const trail = async (user: string) => {
    const { docs } = await owner.api.users.listUserActivities({ id: user, list: { limit: 1000 } })
    return (docs as unknown as Json[]).map(({ type }) => String(type))
  }

  it('invite by a mail that holds a link of its own, the role and who invites', async () => {
    const email = newAddress()
    const { acceptUrl } = await invite(await create(), email)
    assert.match(String(acceptUrl), /^https:\/\/console\.example\.com\/invitations\/\w{60}$/)
    const mail = harness.mails.find(({ to }) => to === email)!
    assert.equal(mail.subject, 'Invitation to “Workspace”')
    for (const part of ['“Owner”', 'with the role “user”', '7 days']) assert.ok(mail.text.includes(part), part)
    const [mailedUrl] = /https:\S+/.exec(mail.text)!
    assert.match(mailedUrl, /^https:\/\/console\.example\.com\/invitations\/\w{60}$/)
    assert.notEqual(mailedUrl, acceptUrl)
  })

  it('secure an unproven account of the address when its mailed link is used', async () => {
    const prepared = await addUnproven()
    const { organizationId } = await harness.register()
    const elsewhere = await addUnproven(organizationId)
    await harness.db
      .collection('users')
      .updateOne({ emailKey: elsewhere.email }, { $set: { email: prepared.email, emailKey: prepared.email } })
    await invite(await create(), prepared.email)
    await acceptMailed(prepared.email)
    for (const { api } of [prepared, elsewhere]) await assert.rejects(api.account.getAccount({}), { status: 401 })
    for (const orgId of [owner.organizationId, organizationId]) {
      const login = harness.public.authentication.login({ email: prepared.email, password: PASSWORD, orgId })
      await assert.rejects(login, { code: 'sign_in.wrong_password' })
    }
    assert.equal((await owner.api.users.getUser({ id: prepared.userId })).emailVerified, true)
  })

  it('leave the account of a person who is signed in as it', async () => {
    const person = await addUnproven()
    await invite(await create(), person.email)
    await acceptMailed(person.email, person.api)
    await person.api.account.getAccount({})
    await harness.public.authentication.login({ email: person.email, password: PASSWORD })
  })

  for (const [what, leave] of [
    ['deleted', (id: string) => owner.api.users.deleteUser({ id })],
    ['blocked', (id: string) => owner.api.users.blockUser({ id })],
  ] as const) {
    it(`withdraw the invitations of a sender who is ${what}`, async () => {
      const id = await create({ seats: 3 })
      const sender = await harness.addPerson(owner.organizationId, 'admin')
      await invite(id)
      const sent = await invite(id, newAddress(), sender.api)
      await leave(sender.userId)
      await assert.rejects(accept(sent), { code: 'invitation.not_found' })
      assert.equal((await eventsOf(sent.id)).at(-1)!.type, 'invitation.revoked')
      const { docs } = await owner.api.invitations.listInvitations({ id })
      assert.equal((docs as unknown as Json[]).length, 1)
      await invite(id)
    })
  }

  /** Sends an invitation to a new person, and returns how that person accepts it. */
  const inviteAccomplice = async (id: string, sender: Person) => {
    const { email, api } = await harness.addPerson(owner.organizationId, 'user')
    const { acceptUrl } = await sender.api.invitations.createInvitation({ id, email, role: 'owner' })
    const token = String(acceptUrl).split('/').at(-1)!
    return () => api.invitations.acceptInvitation({ token })
  }

  it('withdraw the invitations of a member who is removed, to this workspace alone', async () => {
    const [id, other] = [await create(), await create()]
    const sender = await harness.addPerson(owner.organizationId, 'user')
    for (const each of [id, other]) await owner.api.members.addMember({ id: each, email: sender.email, role: 'owner' })
    const [accept, acceptOther] = [await inviteAccomplice(id, sender), await inviteAccomplice(other, sender)]
    await owner.api.members.removeMember({ id, userId: sender.userId })
    await assert.rejects(accept(), { code: 'invitation.not_found' })
    await acceptOther()
  })

  it('withdraw the invitations of owners by a member who is an owner no more', async () => {
    const id = await create()
    const sender = await harness.addPerson(owner.organizationId, 'user')
    await owner.api.members.addMember({ id, email: sender.email, role: 'owner' })
    const accept = await inviteAccomplice(id, sender)
    await owner.api.members.updateMember({ id, userId: sender.userId, role: 'user' })
    await assert.rejects(accept(), { code: 'invitation.not_found' })
  })

  it('withdraw the invitations of a former admin, except where the sender is a member', async () => {
    const [id, own] = [await create(), await create()]
    const sender = await harness.addPerson(owner.organizationId, 'admin')
    await owner.api.members.addMember({ id: own, email: sender.email, role: 'owner' })
    const [accept, acceptOwn] = [await inviteAccomplice(id, sender), await inviteAccomplice(own, sender)]
    await owner.api.users.changeRole({ id: sender.userId, role: 'user' })
    await assert.rejects(accept(), { code: 'invitation.not_found' })
    await acceptOwn()
  })

  it('send no mail for an invitation that is refused', async () => {
    const id = await create({ seats: 1 })
    const email = newAddress()
    await assert.rejects(invite(id, email), { code: 'workspace.seats_taken', status: 403 })
    assert.ok(harness.mails.every(({ to }) => to !== email))
  })

  it('keep the hash of an invitation’s secret alone', async () => {
    const { acceptUrl, id } = await invite(await create())
    const secret = String(acceptUrl).split('/').at(-1)!
    const stored = await harness.db
      .collection('invitations')
      .findOne({ hash: { $exists: true } }, { sort: { _id: -1 } })
    assert.equal(String(stored!._id), id)
    assert.match(stored!.hash, /^test:[\w-]{43}$/)
    assert.ok(!JSON.stringify([stored, await eventsOf(id)]).includes(secret))
  })

  it('publish their changes, with the actor', async () => {
    const { id, name } = await owner.api.workspaces.createWorkspace({ name: 'Published' })
    const workspaceId = String(id)
    await owner.api.workspaces.updateWorkspace({ id: workspaceId, name: 'Renamed', image: '' })
    await owner.api.workspaces.updateWorkspace({ id: workspaceId, name: 'Renamed' })
    await owner.api.workspaces.deleteWorkspace({ id: workspaceId })
    const [created, updated, deleted, ...others] = await eventsOf(workspaceId)
    assert.deepEqual(
      [created!.type, updated!.type, deleted!.type, others.length],
      ['workspace.created', 'workspace.updated', 'workspace.deleted', 0],
    )
    assert.equal(created!.data!.workspace!.name, name)
    assert.deepEqual(updated!.data!.changed, ['name'])
    assert.deepEqual(deleted!.data!.actor, { kind: 'user', id: owner.userId, name: 'Owner' })
    const activities = await trail(owner.userId)
    for (const type of ['workspace.created', 'workspace.updated', 'workspace.deleted'])
      assert.ok(activities.includes(type))
  })

  it('publish added, changed and removed members', async () => {
    const id = await create()
    const person = await harness.addPerson(owner.organizationId, 'user')
    const member = await owner.api.members.addMember({ id, email: person.email, role: 'user' })
    await owner.api.members.updateMember({ id, userId: person.userId, role: 'user' })
    await owner.api.members.updateMember({ id, userId: person.userId, role: 'admin' })
    await owner.api.members.removeMember({ id, userId: String(member.id) })
    const [added, changed, removed, ...others] = await eventsOf(member.id)
    assert.deepEqual(
      [added!.type, changed!.type, removed!.type, others.length],
      ['member.added', 'member.role_changed', 'member.removed', 0],
    )
    const { actor: _, ...data } = changed!.data!
    const memberId = member.id
    assert.deepEqual(data, { memberId, workspaceId: id, userId: person.userId, from: 'user', to: 'admin' })
    assert.equal(removed!.data!.workspaceId, id)
  })

  it('publish invitations that are sent, accepted, declined and revoked', async () => {
    const id = await create()
    const [accepted, declined, revoked] = [await invite(id), await invite(id), await invite(id)]
    const { user } = await accept(accepted)
    await harness.public.invitations.declineInvitation({ token: String(declined.acceptUrl).split('/').at(-1)! })
    await owner.api.invitations.revokeInvitation({ id, invitationId: String(revoked.id) })
    const types = async (invitation: Json) => (await eventsOf(invitation.id)).map(({ type }) => String(type))
    assert.deepEqual(await types(accepted), ['invitation.created', 'invitation.accepted'])
    assert.deepEqual(await types(declined), ['invitation.created', 'invitation.declined'])
    assert.deepEqual(await types(revoked), ['invitation.created', 'invitation.revoked'])
    const [, acceptance] = await eventsOf(accepted.id)
    assert.deepEqual(acceptance!.data!.actor, { kind: 'user', id: user!._id, name: 'Invited' })
    const [, refusal] = await eventsOf(declined.id)
    assert.deepEqual(refusal!.data!.actor, { kind: 'system', id: null, name: declined.email })
  })

  it('leave no trace of a change that is refused in the end', async () => {
    const id = await create({ seats: 1 })
    const person = await harness.addPerson(owner.organizationId, 'user')
    const before = await trail(owner.userId)
    await assert.rejects(owner.api.members.addMember({ id, email: person.email, role: 'user' }), { status: 403 })
    await assert.rejects(invite(id), { status: 403 })
    assert.deepEqual(await trail(owner.userId), before)
    const { docs } = await owner.api.members.listWorkspaceMembers({ id })
    assert.deepEqual(
      (docs as unknown as Json[]).map(({ user }) => user),
      [owner.userId],
    )
  })

  it('a credential of a limited scope does no more in them than it says', async () => {
    const id = await create()
    const person = await harness.addPerson(owner.organizationId, 'user')
    await owner.api.members.addMember({ id, email: person.email, role: 'admin' })
    const workspaces = harness.client('rollcall.identity.v1.Workspaces')
    const scoped = async (...scope: string[]): Promise<Caller> => ({ ...(await person.api.caller()), scope })
    await workspaces.getWorkspace({ id }, { caller: await scoped('workspaces.read') })
    const refused = { status: 403, message: 'Permission denied: workspaces.update' }
    await assert.rejects(
      workspaces.updateWorkspace({ id, name: 'x' }, { caller: await scoped('workspaces.read') }),
      refused,
    )
    await assert.rejects(workspaces.getWorkspace({ id }, { caller: await scoped('links.read') }), { status: 403 })
  })

  it('name no role or address to who may not invite', async () => {
    const id = await create()
    const person = await harness.addPerson(owner.organizationId, 'user')
    await owner.api.members.addMember({ id, email: person.email, role: 'admin' })
    const stranger = await harness.addPerson(owner.organizationId, 'user')
    const unknownRole = (api: Api) =>
      api.invitations.createInvitation({ id, email: newAddress(), role: 'no-such-role' })
    await assert.rejects(unknownRole(person.api), { code: 'access.permission_denied', message: /users\.create$/ })
    await assert.rejects(unknownRole(stranger.api), { code: 'workspace.not_found' })
    await assert.rejects(unknownRole(owner.api), { code: 'role.unknown' })
    const organizations = harness.db.collection('organizations')
    const ofOwner = { _id: new mongoose.Types.ObjectId(owner.organizationId) }
    await organizations.updateOne(ofOwner, { $set: { verified: false } })
    try {
      await assert.rejects(unknownRole(stranger.api), { code: 'workspace.not_found' })
      await assert.rejects(unknownRole(owner.api), { code: 'organization.unverified' })
    } finally {
      await organizations.updateOne(ofOwner, { $set: { verified: true } })
    }
  })

  it('of a person who is deleted while they are added has no member that is not gone', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await create()
      const person = await harness.addPerson(owner.organizationId, 'user')
      const [added] = await Promise.allSettled([
        owner.api.members.addMember({ id, email: person.email, role: 'user' }),
        owner.api.users.deleteUser({ id: person.userId }),
      ])
      const { memberCount } = await owner.api.workspaces.getWorkspace({ id })
      assert.equal(memberCount, 1)
      const { docs } = await owner.api.members.listWorkspaceMembers({ id })
      const users = (docs as unknown as Json[]).map(({ user }) => user)
      assert.deepEqual(users, added.status === 'fulfilled' ? [null, owner.userId] : [owner.userId])
    }
  })

  it('of a role that is deleted while it is given has no member that carries it', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await create()
      const permissions = { workspaces: ['read'] }
      const role = await owner.api.roles.saveRole({ name: unique('role'), kind: 'user', permissions })
      const person = await harness.addPerson(owner.organizationId, 'user')
      const [added, deleted] = await Promise.allSettled([
        owner.api.members.addMember({ id, email: person.email, role: String(role.name) }),
        owner.api.roles.deleteRole({ id: String(role.id) }),
      ])
      assert.notEqual(added.status, deleted.status)
    }
  })
})

describe('invitations that cannot be mailed', () => {
  it('are refused with 503, and keep neither a seat nor the next one', async test => {
    const harness = await startHarness({ MESSAGING_ADDRESS: '127.0.0.1:1' })
    test.after(harness.stop)
    const { api } = await harness.register()
    const id = String((await api.workspaces.createWorkspace({ name: 'Workspace', seats: 2 })).id)
    const invite = () => api.invitations.createInvitation({ id, email: 'invited@example.com', role: 'user' })
    await assert.rejects(invite(), { status: 503 })
    const { docs } = await api.invitations.listInvitations({ id })
    assert.deepEqual(docs, [])
    await assert.rejects(invite(), { status: 503 })
  })
})
