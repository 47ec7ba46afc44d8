import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError, json } from '@rollcall/rpc'
import { bootGateway, issueSession, type TestGateway } from '../test-gateway.ts'

describe('the session cookie', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await bootGateway({ TRUST_PROXY: '1' })
  })
  after(() => gateway.stop())

  const login = (headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ email: 'one@example.com', password: 'secret words' }),
    })

  it('is set by signing in, out of reach of scripts, and signs in', async () => {
    const token = issueSession(gateway.services)
    const signIn = { token, expiresAt: '2031-02-03T04:05:06.000Z', user: { name: 'One' } }
    gateway.services.behaviours.set('login', () => json(signIn))
    const response = await login()
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), signIn)
    const expected = `auth_token=${token}; Path=/; Expires=Mon, 03 Feb 2031 04:05:06 GMT; HttpOnly; SameSite=Lax`
    assert.deepEqual(response.headers.getSetCookie(), [expected])
    const cookie = response.headers.getSetCookie()[0]!.split(';')[0]!
    assert.equal((await fetch(`${gateway.url}/api/auth/me`, { headers: { Cookie: cookie } })).status, 200)
  })

  it('is secure where the request was', async () => {
    const response = await login({ 'X-Forwarded-Proto': 'https' })
    assert.match(response.headers.getSetCookie()[0]!, /; Secure/)
  })

  it('is set by registering too, with its status', async () => {
    gateway.services.behaviours.set('register', () => json({ token: 'a.b.c', expiresAt: '2031-02-03T04:05:06.000Z' }))
    const response = await fetch(`${gateway.url}/api/auth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'One', email: 'one@example.com', password: 'secret words' }),
    })
    assert.equal(response.status, 201)
    assert.match(response.headers.getSetCookie()[0]!, /^auth_token=a\.b\.c; /)
  })

  it('is not set by a sign-in that is refused', async () => {
    gateway.services.behaviours.set('login', () => {
      throw new AppError('unauthenticated', { message: 'Wrong email or password.' })
    })
    const response = await login()
    assert.equal(response.status, 401)
    assert.equal(await response.text(), 'Unauthorized')
    assert.deepEqual(response.headers.getSetCookie(), [])
  })

  it('is taken back by signing out', async () => {
    gateway.services.behaviours.set('logout', () => ({ success: true, message: 'signed out' }))
    const headers = { Cookie: `auth_token=${issueSession(gateway.services)}`, 'Sec-Fetch-Site': 'same-origin' }
    const response = await fetch(`${gateway.url}/api/auth/logout`, { method: 'POST', headers })
    assert.deepEqual(await response.json(), { success: true, message: 'signed out' })
    const expected = 'auth_token=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'
    assert.deepEqual(response.headers.getSetCookie(), [expected])
  })
})
