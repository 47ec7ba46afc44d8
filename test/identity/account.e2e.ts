import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, bodyOf, makeToken, signIn } from '../api.ts'
import { fromElsewhere, unknownId } from '../every-route.ts'
import { addPerson, type Person, password, type Refusal } from './people.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

type Page<T> = { docs: T[]; totalDocs: number }
type Session = { sessionRef: string; current: boolean; impersonatedBy: string | null }
type Device = { deviceId: string; current: boolean; name: string }
type Me = { kind: string; user: Record<string, unknown>; token?: { id: string } }

const NEW_PASSWORD = 'another password of tests'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

describe('the own account', () => {
  let stack: IdentityStack
  before(async () => {
    stack = await startIdentityStack()
  })
  after(() => stack?.stop())

  const signInAgain = async ({ email }: Person, headers = {}) =>
    fromElsewhere(await signIn(fromElsewhere(stack.api).with(headers), email, password))
  const statusOf = async (api: Api) => (await api.get('/api/me')).status
  const impersonate = async (userId: string) => {
    const answer = fromElsewhere(stack.owner).post<{ token: string }>('/api/auth/impersonate', { userId })
    return fromElsewhere(stack.api.as((await bodyOf(answer)).token))
  }
  const sessionsOf = async (api: Api) => (await bodyOf(api.get<Page<Session>>('/api/me/sessions'))).docs
  const changePassword = (api: Api, currentPassword: string, newPassword = NEW_PASSWORD) =>
    fromElsewhere(api).post<Refusal>('/api/me/password', { currentPassword, newPassword })

  describe('GET /api/me', () => {
    it('answers like /api/auth/me, to sessions and tokens, limited by the global limit only', async () => {
      const { api } = await addPerson(stack)
      const token = await makeToken(fromElsewhere(stack.owner))
      for (const caller of [api, token.api]) {
        const answer = await caller.get<Me>('/api/me')
        assert.deepEqual(await bodyOf(caller.get('/api/auth/me')), answer.body)
        assert.equal(answer.headers.get('ratelimit-limit'), '500')
      }
      assert.equal((await bodyOf(token.api.get<Me>('/api/me'))).token?.id, token.id)
    })
  })

  describe('PATCH /api/me', () => {
    it('updates the profile, which the next request shows', async () => {
      const { api } = await addPerson(stack)
      const profile = { name: 'Renamed', country: 'DE', timezone: 'Europe/Berlin', language: 'de', currency: 'EUR' }
      await bodyOf(api.patch('/api/me', profile))
      const { user } = await bodyOf(api.get<Me>('/api/me'))
      assert.deepEqual({ ...user, ...profile }, user)
    })

    it('refuses unknown places, role and email, and nothing at all', async () => {
      const { api } = await addPerson(stack)
      const refused = async (body: object) => (await bodyOf(api.patch<Refusal>('/api/me', body), 400)).message
      assert.match(await refused({ timezone: 'Mars/Olympus' }), /^invalid field -> timezone/)
      assert.equal(await refused({ role: 'owner' }), 'extra field -> role')
      assert.equal(await refused({ email: 'other@example.com' }), 'extra field -> email')
      assert.match(await refused({}), /^missing field/)
    })
  })

  describe('POST /api/me/password', () => {
    it('changes the password and ends every other session', async () => {
      const person = await addPerson(stack)
      const other = await signInAgain(person)
      const impersonation = await impersonate(person.id)
      const answer = await bodyOf(changePassword(person.api, password))
      assert.deepEqual(answer, { success: true, message: 'password changed' })
      assert.deepEqual(
        [await statusOf(person.api), await statusOf(other), await statusOf(impersonation)],
        [200, 401, 401],
      )
      const login = (password: string) =>
        fromElsewhere(stack.api).post('/api/auth/login', { email: person.email, password })
      assert.equal((await login(password)).status, 401)
      assert.equal((await login(NEW_PASSWORD)).status, 200)
    })

    it('refuses a wrong current password, a common and a short new one', async () => {
      const { api } = await addPerson(stack)
      const refused = async (...passwords: [string, string?]) =>
        (await bodyOf(changePassword(api, ...passwords), 400)).message
      assert.equal(await refused('wrong'), 'invalid field -> currentPassword')
      assert.match(await refused(password, 'password1'), /^invalid field -> newPassword: too common/)
      assert.match(await refused(password, 'short'), /^invalid field -> newPassword/)
      assert.equal(await statusOf(api), 200)
    })

    it('checks nothing any more after ten wrong passwords', async () => {
      const { api } = await addPerson(stack)
      for (let attempt = 0; attempt < 10; attempt++) assert.equal((await changePassword(api, 'wrong')).status, 400)
      const { message } = await bodyOf(changePassword(api, password), 400)
      assert.equal(message, 'invalid field -> currentPassword')
    })
  })

  describe('own sessions', () => {
    it('are listed, and end one at a time', async () => {
      const person = await addPerson(stack)
      const other = await signInAgain(person)
      const sessions = await sessionsOf(person.api)
      assert.deepEqual(sessions.map(({ current }) => current).sort(), [false, true])
      const { sessionRef } = sessions.find(({ current }) => !current)!
      await bodyOf(person.api.delete(`/api/me/sessions/${sessionRef}`))
      assert.deepEqual([await statusOf(person.api), await statusOf(other)], [200, 401])
      await bodyOf(person.api.delete(`/api/me/sessions/${sessionRef}`), 404)
    })

    it('end all but this one', async () => {
      const person = await addPerson(stack)
      const others = [await signInAgain(person), await signInAgain(person)]
      assert.deepEqual(await bodyOf(person.api.delete('/api/me/sessions')), { ended: 2 })
      assert.deepEqual(await Promise.all([person.api, ...others].map(statusOf)), [200, 401, 401])
      assert.deepEqual(await bodyOf(person.api.delete('/api/me/sessions')), { ended: 0 })
    })

    it('are not those of others', async () => {
      const [one, another] = [await addPerson(stack), await addPerson(stack)]
      const [foreign] = await sessionsOf(another.api)
      await bodyOf(one.api.delete(`/api/me/sessions/${foreign!.sessionRef}`), 404)
      assert.equal(await statusOf(another.api), 200)
    })
  })

  describe('own devices', () => {
    it('are listed, and removed with their sessions', async () => {
      const person = await addPerson(stack)
      const other = await signInAgain(person, { 'user-agent': FIREFOX })
      const { docs } = await bodyOf(person.api.get<Page<Device>>('/api/me/devices'))
      assert.equal(docs.length, 2)
      const { deviceId } = docs.find(({ name }) => name.startsWith('Firefox'))!
      await bodyOf(person.api.delete(`/api/me/devices/${deviceId}`))
      assert.deepEqual([await statusOf(person.api), await statusOf(other)], [200, 401])
      await bodyOf(person.api.delete(`/api/me/devices/${unknownId}`), 404)
    })
  })

  it('can only be read with a token or an impersonation', async () => {
    const { id } = await addPerson(stack)
    const token = (await makeToken(fromElsewhere(stack.owner))).api
    const impersonation = await impersonate(id)
    assert.equal((await bodyOf(impersonation.get<Me>('/api/me'))).user.id, id)
    assert.equal((await sessionsOf(impersonation)).length, 2)
    for (const api of [token, impersonation]) {
      const answers = [
        await api.patch('/api/me', { name: 'Taken' }),
        await changePassword(api, password),
        await api.delete('/api/me/sessions'),
      ]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [403, 403, 403],
      )
    }
    for (const path of ['/api/me/sessions', '/api/me/devices']) assert.equal((await token.get(path)).status, 403)
  })
})
