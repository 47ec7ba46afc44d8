import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bodyOf } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { type Founder, found } from './founder.ts'
import { addPerson, password, type Refusal, unique } from './people.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

const badLink = { error: true, message: 'invalid field -> token', path: 'token' }

describe('the change of the email address', () => {
  let stack: IdentityStack
  let founder: Founder
  before(async () => {
    stack = await startIdentityStack()
    founder = await found(stack)
  })
  after(() => stack?.stop())

  const newEmail = () => `${unique('new')}@example.com`
  const request = (email: string, by = password, { api } = founder) =>
    fromElsewhere(api).post<Refusal>('/api/me/email', { email, password: by })
  const verify = (token: string) => fromElsewhere(stack.api).post<Refusal>('/api/auth/email/verify', { token })
  const login = (email: string) => fromElsewhere(stack.api).post('/api/auth/login', { email, password })
  /** Requests a change and returns the token of the mailed link. */
  const linkTo = async (email: string, of = founder) => {
    const mail = await stack.mailbox.next(email, () => bodyOf(request(email, password, of)))
    return /\/verify-email\?token=([\w-]+)/.exec(mail)![1]!
  }

  it('happens when the link is used, which proves the new one, and tells the old one', async () => {
    const person = await found(stack)
    const email = newEmail()
    const token = await linkTo(email, person)
    assert.equal((await login(person.email)).status, 200)
    assert.equal((await login(email)).status, 401)
    const notice = await stack.mailbox.next(person.email, () => bodyOf(verify(token)))
    assert.match(notice, /was changed/)
    assert.ok(!notice.includes(email))
    type Me = { user: { email: string; emailVerified: boolean } }
    const { user } = await bodyOf(fromElsewhere(person.api).get<Me>('/api/me'))
    assert.deepEqual([user.email, user.emailVerified], [email, true])
    assert.equal((await login(email)).status, 200)
    assert.equal((await login(person.email)).status, 401)
    assert.deepEqual((await verify(token)).body, badLink)
  })

  it('needs the password, and an address that is free', async () => {
    const other = await addPerson({ ...stack, owner: founder.api })
    for (const [email, by, status, path] of [
      [newEmail(), 'wrong', 400, 'password'],
      ['no address', password, 400, 'email'],
      [founder.email.toUpperCase(), password, 400, 'email'],
      [other.email, password, 409, 'email'],
    ] as const) {
      const answer = await request(email, by)
      assert.deepEqual([answer.status, answer.body.path], [status, path], email)
    }
  })

  it('by an unknown, a replaced, or a late link, or of a deleted or blocked account, is refused', async () => {
    const [first, second] = [newEmail(), newEmail()]
    const replaced = await linkTo(first)
    await linkTo(second)
    for (const token of ['unknown', replaced]) {
      const answer = await verify(token)
      assert.deepEqual([answer.status, answer.body], [400, badLink])
    }
    const [blocked, deleted] = [await addPerson(stack), await addPerson(stack)]
    const ofBlocked = await linkTo(newEmail(), { ...founder, ...blocked })
    const ofDeleted = await linkTo(newEmail(), { ...founder, ...deleted })
    await bodyOf(fromElsewhere(stack.owner).patch(`/api/users/${blocked.id}/block`, {}))
    assert.equal((await verify(ofBlocked)).status, 403)
    await bodyOf(fromElsewhere(stack.owner).delete(`/api/users/${deleted.id}`))
    assert.deepEqual((await verify(ofDeleted)).body, badLink)
  })

  it('is refused if somebody took the address meanwhile', async () => {
    const email = newEmail()
    const token = await linkTo(email)
    const person = { name: 'Person', email, password, role: 'user' }
    await bodyOf(fromElsewhere(founder.api).post('/api/users', person), 201)
    const answer = await verify(token)
    assert.deepEqual([answer.status, answer.body.path], [409, 'email'])
    assert.equal((await login(founder.email)).status, 200)
  })

  it('voids mailed links to set a password, and no other use of the same link wins', async () => {
    const person = await found(stack)
    const forgot = () => bodyOf(fromElsewhere(stack.api).post('/api/auth/password/forgot', { email: person.email }))
    const reset = /token=([\w-]+)/.exec(await stack.mailbox.next(person.email, forgot))![1]!
    const token = await linkTo(newEmail(), person)
    const statuses = (await Promise.all([verify(token), verify(token)])).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [200, 400])
    const answer = fromElsewhere(stack.api).post('/api/auth/password/reset', {
      token: reset,
      password: 'another horse',
    })
    assert.equal((await answer).status, 400)
  })
})
