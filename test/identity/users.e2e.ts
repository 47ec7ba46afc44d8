import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses, unknownId } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'
import { addPerson, password, type Refusal, saveRole, unique } from './people.ts'

type User = Record<string, unknown> & { id: string; email: string; role: string; blocked: boolean; tags: string[] }
type Page<T> = { docs: T[]; totalDocs: number }
const updated = { success: true, message: 'updated' }

describe('user administration', () => {
  let stack: TestStack
  let owner: Api
  let ownerId: string
  before(async () => {
    stack = await startStack({ gateways: 2, settings: manyAddresses })
    owner = fromElsewhere(stack.owner)
    ownerId = (await bodyOf(owner.get<{ user: User }>('/api/auth/me'))).user.id
  })
  after(() => stack?.stop())

  const get = (id: string) => bodyOf(fromElsewhere(owner).get<User>(`/api/users/${id}`))
  const patch = (path: string, body?: object, status = 200, api = owner) =>
    bodyOf(fromElsewhere(api).patch<Refusal>(`/api/users/${path}`, body), status)
  const statusesOf = (api: Api) =>
    Promise.all(stack.urls.map(async url => (await fromElsewhere(api).at(url).get('/api/auth/me')).status))
  const signInStatus = async (email: string) =>
    (await fromElsewhere(stack.api).post('/api/auth/login', { email, password })).status

  describe('201', () => {
    it('creates a user, of role user unless said otherwise', async () => {
      const email = `${unique('New')}@Example.com`
      const created = await bodyOf(fromElsewhere(owner).post<User>('/api/users', { name: 'New', email, password }), 201)
      assert.deepEqual([created.email, created.role, created.blocked, created.tags], [email, 'user', false, []])
      assert.deepEqual(await get(created.id), created)
      assert.equal(await signInStatus(email.toLowerCase()), 200)
    })
  })

  describe('200', () => {
    it('lists users, paged, with the shared parameters', async () => {
      const { id, email } = await addPerson(stack)
      const page = await bodyOf(owner.get<Page<User>>('/api/users', { filter: { email: email.toUpperCase() } }))
      assert.deepEqual([page.totalDocs, page.docs[0]!.id], [1, id])
      assert.equal(JSON.stringify(page).includes('passwordHash'), false)
    })

    it('PATCH updates the profile', async () => {
      const { id } = await addPerson(stack)
      const profile = {
        name: 'Renamed',
        image: 'https://example.com/a.png',
        country: 'DE',
        timezone: 'Europe/Berlin',
        language: 'de-DE',
        currency: 'EUR',
        attributes: { plan: 'pro', seats: 3, trial: false },
      }
      assert.deepEqual(await patch(id, profile), updated)
      const user = await get(id)
      assert.deepEqual({ ...user, ...profile }, user)
      await patch(id, { country: null, attributes: { plan: null } })
      assert.deepEqual([(await get(id)).country, (await get(id)).attributes], [null, { seats: 3, trial: false }])
    })

    it('replaces tags; [] clears them', async () => {
      const { id } = await addPerson(stack)
      assert.deepEqual(await patch(`${id}/tags`, { tags: ['b', ' a ', 'b'] }), updated)
      assert.deepEqual((await get(id)).tags, ['b', 'a'])
      await patch(`${id}/tags`, { tags: [] })
      assert.deepEqual((await get(id)).tags, [])
    })

    it('shows sessions, devices and activities; revoking a session or a device ends it at once', async () => {
      const person = await addPerson(stack)
      const views = ['sessions', 'devices'] as const
      for (const view of views) {
        type Entry = { sessionRef?: string; deviceId?: string }
        const again = await bodyOf(
          fromElsewhere(stack.api).post<{ token: string }>('/api/auth/login', { email: person.email, password }),
        )
        const session = stack.api.as(again.token)
        assert.deepEqual(await statusesOf(session), [200, 200])
        const { docs } = await bodyOf(fromElsewhere(owner).get<Page<Entry>>(`/api/users/${person.id}/${view}`))
        const ref = docs[0]!.sessionRef ?? docs[0]!.deviceId
        await bodyOf(fromElsewhere(owner).delete(`/api/users/${person.id}/${view}/${ref}`))
        assert.deepEqual(await statusesOf(session), [401, 401])
        await bodyOf(fromElsewhere(owner).delete(`/api/users/${person.id}/${view}/${ref}`), 404)
      }
      const trail = await bodyOf(fromElsewhere(owner).get<Page<{ type: string }>>(`/api/users/${person.id}/activities`))
      assert.ok(trail.docs.some(({ type }) => type === 'session.created'))
    })

    it('block: the sessions end at once, nobody signs in; unblock restores access', async () => {
      const person = await addPerson(stack)
      assert.deepEqual(await statusesOf(person.api), [200, 200])
      assert.deepEqual(await patch(`${person.id}/block`), updated)
      assert.deepEqual(await patch(`${person.id}/block`), updated)
      assert.deepEqual(await statusesOf(person.api), [403, 403])
      assert.equal(await signInStatus(person.email), 403)
      const { blocked, blockedAt } = await get(person.id)
      assert.deepEqual([blocked, typeof blockedAt], [true, 'string'])
      assert.deepEqual(await patch(`${person.id}/unblock`), updated)
      assert.deepEqual(await statusesOf(person.api), [401, 401])
      assert.equal(await signInStatus(person.email), 200)
    })

    it('change-role holds from the very next request on, at every gateway', async () => {
      const person = await addPerson(stack, 'admin')
      const list = () =>
        Promise.all(stack.urls.map(async url => (await fromElsewhere(person.api).at(url).get('/api/users')).status))
      assert.deepEqual(await list(), [200, 200])
      assert.deepEqual(await patch(`${person.id}/change-role`, { role: 'user' }), updated)
      assert.deepEqual(await list(), [403, 403])
      const { name } = await saveRole(owner, { users: ['read'] }, { kind: 'user' })
      await patch(`${person.id}/change-role`, { role: name })
      assert.deepEqual(await list(), [200, 200])
    })

    it('DELETE answers the user, ends its sessions at once, and cannot be undone', async () => {
      const person = await addPerson(stack)
      const record = await get(person.id)
      assert.deepEqual(await bodyOf(fromElsewhere(owner).delete<User>(`/api/users/${person.id}`)), record)
      assert.deepEqual(await statusesOf(person.api), [401, 401])
      assert.equal(await signInStatus(person.email), 401)
      await bodyOf(fromElsewhere(owner).get(`/api/users/${person.id}`), 404)
      await patch(`${person.id}/unblock`, undefined, 404)
    })
  })

  describe('400', () => {
    const create = (body: object) => bodyOf(fromElsewhere(owner).post<Refusal>('/api/users', body), 400)

    it('a field that is missing, extra or invalid is named', async () => {
      assert.deepEqual(await create({ name: 'x' }), { error: true, message: 'missing field -> email', path: 'email' })
      assert.equal(
        (await create({ name: 'x', email: 'x@example.com', blocked: true })).message,
        'extra field -> blocked',
      )
      assert.equal((await create({ name: 'x', email: 'nonsense' })).path, 'email')
      assert.equal((await create({ name: 'x', email: 'x@example.com', password: 'short' })).path, 'password')
      assert.equal(
        (await create({ name: 'x', email: 'x@example.com', role: 'nobody' })).message,
        'Unknown role: nobody',
      )
    })

    it('a role for tokens is not valid for users', async () => {
      const { name } = await saveRole(owner, {})
      const { id } = await addPerson(stack)
      assert.equal((await patch(`${id}/change-role`, { role: name }, 400)).message, `Unknown role: ${name}`)
    })

    it('a profile with unknown codes, nested attributes or no fields', async () => {
      const { id } = await addPerson(stack)
      for (const [field, value] of Object.entries({
        country: 'XX',
        timezone: 'Mars/Base',
        language: '??',
        currency: 'XYZ',
      }))
        assert.equal((await patch(id, { [field]: value }, 400)).path, field)
      assert.equal((await patch(id, { attributes: { nested: {} } }, 400)).path, 'attributes.nested')
      await patch(id, {}, 400)
      await patch(id, { role: 'admin' }, 400)
    })
  })

  describe('403', () => {
    it('nobody can grant or change a role beyond their own', async () => {
      const editor = await addPerson(
        stack,
        (await saveRole(owner, { users: ['update', 'delete'] }, { kind: 'user' })).name,
      )
      const admin = await addPerson(stack, 'admin')
      const person = await addPerson(stack, (await saveRole(owner, {}, { kind: 'user' })).name)
      const beyond = await patch(`${person.id}/change-role`, { role: 'admin' }, 403, editor.api)
      assert.match(beyond.message, /^Role exceeds your permissions: /)
      await patch(`${admin.id}/block`, undefined, 403, editor.api)
      await bodyOf(fromElsewhere(editor.api).delete(`/api/users/${admin.id}`), 403)
    })

    it('the role user reads no users', async () => {
      const { api } = await addPerson(stack)
      const { message } = await bodyOf(fromElsewhere(api).get<Refusal>('/api/users'), 403)
      assert.equal(message, 'Permission denied: users.read')
    })
  })

  it('404: an unknown user', async () => {
    for (const [path, body] of [
      ['', { name: 'x' }],
      ['/block'],
      ['/unblock'],
      ['/tags', { tags: [] }],
      ['/change-role', { role: 'user' }],
    ] as const)
      assert.deepEqual(await patch(`${unknownId}${path}`, body, 404), { error: true, message: 'user not found' })
    for (const view of ['', '/sessions', '/devices', '/activities'])
      await bodyOf(fromElsewhere(owner).get(`/api/users/${unknownId}${view}`), 404)
    await bodyOf(fromElsewhere(owner).delete(`/api/users/${unknownId}`), 404)
  })

  describe('409', () => {
    it('an email that is taken, regardless of case', async () => {
      const { email } = await addPerson(stack)
      const body = { name: 'x', email: email.toUpperCase(), password }
      const refused = await bodyOf(fromElsewhere(owner).post<Refusal>('/api/users', body), 409)
      assert.deepEqual(refused, { error: true, message: 'duplicate -> email', path: 'email' })
    })

    it('oneself: neither blocked nor deleted, nor, as the last owner, given another role', async () => {
      const admin = await addPerson(stack, 'admin')
      await patch(`${admin.id}/block`, undefined, 409, admin.api)
      await bodyOf(fromElsewhere(admin.api).delete(`/api/users/${admin.id}`), 409)
      await patch(`${ownerId}/change-role`, { role: 'admin' }, 409)
      assert.equal((await get(ownerId)).role, 'owner')
    })
  })
})
