import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { MongoClient } from 'mongodb'
import { type Answer, type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { addPerson, type Person, password, saveRole, unique } from '../identity/people.ts'
import { startStack, type TestStack } from '../stack.ts'

type Page<T> = { docs: T[]; totalDocs: number }
type Email = { subject: string }
type Contact = { id: string; email: string; emailStatus: string; user: { _id: string } | string | null }
type Entry = { type: string; subject: string; at: string; actor: { name: string }; data: Record<string, unknown> }

/** Requires that nothing shows addresses, devices, or the permissions of tokens and roles. */
const SECRETS = /"(ip|userAgent|tokenPreview|allowedIps|permissions|email|lastLoginAt|attributes)":|203\.0\.113/

let stack: TestStack
let owner: Api
/** The victim: an administrator. */
let victim: Person

before(async () => {
  stack = await startStack({ settings: { ...manyAddresses, MAX_LISTS: '5', MAX_ATTRIBUTES: '3' } })
  owner = fromElsewhere(stack.owner)
  victim = await addPerson(stack, 'admin')
})
after(() => stack?.stop())

const newEmail = () => `${unique('contact')}@example.com`
const newContact = (fields: object = {}) =>
  bodyOf(owner.post<Contact>('/api/audience', { email: newEmail(), ...fields }), 201)
/** Creates a token with only these permissions. */
const tokenOf = async (permissions: Record<string, string[]>) => {
  const { name } = await saveRole(owner, permissions)
  return fromElsewhere((await makeToken(owner, { role: name })).api)
}
const denied = async (answer: Promise<Answer<unknown>>, permission: string) => {
  const { status, body } = await answer
  assert.deepEqual([status, body], [403, { error: true, message: `Permission denied: ${permission}` }])
}
const until = (condition: () => Promise<boolean>) => eventually(String(condition), condition, { withinMs: 60_000 })
const timelineOf = (api: Api, id: string, query: object = {}) =>
  bodyOf(api.get<Page<Entry>>(`/api/audience/${id}/timeline`, { $limit: 100, ...query }))

describe('finding 8: what a timeline shows of an account', () => {
  let contact: Contact
  let marketing: Api

  before(async () => {
    marketing = await tokenOf({ audience: ['create', 'read', 'update', 'delete'] })
    contact = await newContact()
    const elsewhere = stack.api.with({ 'x-forwarded-for': '203.0.113.9', 'user-agent': 'Secret/1' })
    await bodyOf(elsewhere.post('/api/auth/login', { email: victim.email, password }))
    const role = await saveRole(victim.api, { links: ['read'] })
    await makeToken(victim.api, { role: role.name })
    await bodyOf(victim.api.patch(`/api/users/${victim.id}`, { attributes: { salary: 1 } }))
  })

  it('a caller without users.read links nobody', async () => {
    await denied(marketing.patch(`/api/audience/${contact.id}/link-user`, { userId: victim.id }), 'users.read')
    await denied(marketing.patch(`/api/audience/${contact.id}/link-user`, { userId: null }), 'users.read')
    const both = await tokenOf({ audience: ['update'], users: ['read'] })
    await bodyOf(both.patch(`/api/audience/${contact.id}/link-user`, { userId: victim.id }))
  })

  it('of a linked account shows type, time and actor, and details only with users.read', async () => {
    await bodyOf(owner.patch(`/api/audience/${contact.id}/link-user`, { userId: victim.id }))
    const typesOf = (docs: Entry[]) => new Set(docs.filter(({ subject }) => subject === 'user').map(({ type }) => type))
    const wanted = ['session.created', 'token.created', 'user.updated']
    await until(async () => {
      const types = typesOf((await timelineOf(owner, contact.id)).docs)
      return wanted.every(type => types.has(type))
    })
    const { docs } = await timelineOf(marketing, contact.id)
    const ofUser = docs.filter(({ subject }) => subject === 'user')
    assert.ok(wanted.every(type => typesOf(docs).has(type)))
    assert.deepEqual(
      ofUser.filter(({ data }) => Object.keys(data).length > 0),
      [],
    )
    assert.ok(ofUser.every(({ at, actor }) => at && actor.name))
    assert.doesNotMatch(JSON.stringify(docs), SECRETS)
  })

  it('who may read users sees what changed, and no address, credential or role contents', async () => {
    const { docs } = await timelineOf(owner, contact.id)
    const updated = docs.find(({ type }) => type === 'user.updated')
    assert.deepEqual(updated?.data.changed, ['attributes'])
    assert.doesNotMatch(JSON.stringify(docs), SECRETS)
  })

  it('a filter finds out nothing that is not shown', async () => {
    const found = async (api: Api, filter: object) => (await timelineOf(api, contact.id, { filter })).totalDocs
    const changed = { type: 'user.updated', 'data.changed': 'attributes' }
    assert.equal(await found(owner, changed), 1)
    assert.equal(await found(marketing, changed), 0)
    for (const api of [owner, marketing]) {
      assert.equal(await found(api, { 'data.ip': '203.0.113.9' }), 0)
      assert.equal(await found(api, { type: 'role.saved' }), 0)
    }
  })

  it('populate names the account, and shows more only with users.read', async () => {
    const list = await bodyOf(owner.post<{ id: string }>('/api/audience-lists', { name: unique('list') }), 201)
    await bodyOf(owner.post(`/api/audience-lists/${list.id}/contacts`, { contactIds: [contact.id] }))
    const reader = await tokenOf({ audience: ['read'], audience_lists: ['read'] })
    for (const path of ['/api/audience', `/api/audience-lists/${list.id}/contacts`]) {
      const userFor = async (api: Api) => {
        const filter = { email: contact.email }
        return (await bodyOf(api.get<Page<Contact>>(path, { populate: 'user', filter }))).docs[0]?.user
      }
      assert.deepEqual(await userFor(reader), { _id: victim.id, id: victim.id, name: 'Person' }, path)
      const whole = {
        _id: victim.id,
        id: victim.id,
        name: 'Person',
        email: victim.email,
        role: 'admin',
        blocked: false,
      }
      assert.deepEqual(await userFor(owner), whole, path)
    }
  })
})

describe('spec F17: members of a list are contacts', () => {
  it('a caller without contacts.read reads none by a list, and learns nothing by a filter', async () => {
    const { id } = await bodyOf(owner.post<{ id: string }>('/api/audience-lists', { name: unique('list') }), 201)
    const { email } = await newContact({ name: 'Somebody' })
    const path = `/api/audience-lists/${id}/contacts`
    const lists = await tokenOf({ audience_lists: ['create', 'read', 'update', 'delete'] })
    await denied(lists.post(path, { filter: {} }), 'audience.read')
    await denied(lists.delete(path, { filter: { email } }), 'audience.read')
    await denied(lists.get(path), 'audience.read')
    await bodyOf(lists.post(path, { emails: [email] }))
    assert.equal((await bodyOf(lists.get<{ memberCount: number }>(`/api/audience-lists/${id}`))).memberCount, 1)
    const both = await tokenOf({ audience: ['read'], audience_lists: ['create', 'read', 'delete'] })
    assert.equal((await bodyOf(both.get<Page<Contact>>(path))).docs[0]?.email, email)
    await bodyOf(both.post(path, { filter: { email } }))
    assert.deepEqual(await bodyOf(both.delete(path, { filter: { email } })), { removed: 1 })
  })
})

describe('spec F3: a contact and an account of one address', () => {
  /** Returns the number of mail events that the audience has consumed. */
  const noted = async () => {
    await using client = new MongoClient(stack.backing.MONGODB_URL)
    const inbox = client.db(`${stack.namespace}rollcall_audience`).collection<{ _id: string }>('inbox')
    return await inbox.countDocuments({ _id: /^audience\.on-email-events:/ })
  }

  it('share no mail', async () => {
    const { id, email } = await addPerson(stack)
    const stranger = await newContact({ email })
    const before = await noted()
    await bodyOf(stack.api.post('/api/auth/password/forgot', { email }))
    const mailOf = async (path: string) => (await bodyOf(owner.get<Page<Email>>(`${path}/emails`))).docs
    await until(async () => (await mailOf(`/api/users/${id}`)).length > 0)
    await until(async () => (await noted()) >= before + 2) // queued and sent
    assert.deepEqual(await mailOf(`/api/audience/${stranger.id}`), [])
    const { docs } = await timelineOf(owner, stranger.id)
    assert.deepEqual(
      docs.map(({ type }) => type),
      ['contact.created'],
    )
    assert.equal((await bodyOf(owner.get<Contact>(`/api/audience/${stranger.id}`))).emailStatus, 'unknown')
    await bodyOf(owner.patch(`/api/audience/${stranger.id}/link-user`, { userId: id }))
    assert.deepEqual(await mailOf(`/api/audience/${stranger.id}`), [])
  })
})

describe('finding 12: stored amounts', () => {
  const full = (what: string) => ({ error: true, message: `limit reached: ${what} per organization` })

  it('an organization has a limit of lists and attributes, also for concurrent requests', async () => {
    const made = async (path: string, bodyOfIndex: (index: number) => object) => {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => owner.post(path, bodyOfIndex(index))))
      return answers.filter(({ status }) => status !== 201).map(({ status, body }) => ({ status, body }))
    }
    const lists = await made('/api/audience-lists', index => ({ name: `many ${index}` }))
    for (const answer of lists) assert.deepEqual(answer, { status: 409, body: full('5 lists') })
    assert.equal((await bodyOf(owner.get<Page<object>>('/api/audience-lists'))).totalDocs, 5)
    const slugs = (index: number) => ({ name: 'Many', slug: `many_${index}`, type: 'string' })
    const attributes = await made('/api/audience/attributes', slugs)
    assert.equal(attributes.length, 9)
    for (const answer of attributes) assert.deepEqual(answer, { status: 409, body: full('3 attributes') })
    const [first] = (await bodyOf(owner.get<Page<{ id: string }>>('/api/audience-lists'))).docs
    await bodyOf(owner.delete(`/api/audience-lists/${first!.id}`))
    await bodyOf(owner.post('/api/audience-lists', { name: 'room again' }), 201)
  })
})
