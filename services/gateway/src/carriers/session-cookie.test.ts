import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError, json } from '@rollcall/contract'
import { bootGateway, issueSession, type TestGateway } from '../../test/gateway.ts'

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
      throw new AppError('sign_in.wrong_password')
    })
    const response = await login()
    assert.equal(response.status, 401)
    assert.equal(await response.text(), 'Unauthorized')
    assert.deepEqual(response.headers.getSetCookie(), [])
  })

  it('is removed by signing out', async () => {
    gateway.services.behaviours.set('logout', () => ({ success: true, message: 'signed out' }))
    const headers = { Cookie: `auth_token=${issueSession(gateway.services)}`, 'Sec-Fetch-Site': 'same-origin' }
    const response = await fetch(`${gateway.url}/api/auth/logout`, { method: 'POST', headers })
    assert.deepEqual(await response.json(), { success: true, message: 'signed out' })
    const expected = 'auth_token=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Lax'
    assert.deepEqual(response.headers.getSetCookie(), [expected])
  })
})

describe('finding 20: the session cookie with a public URL of https', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await bootGateway({ PUBLIC_URL: 'https://api.example.com' })
  })
  after(() => gateway.stop())

  const me = (cookie: string) => fetch(`${gateway.url}/api/auth/me`, { headers: { Cookie: cookie } })
  const expired = '=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax'

  it('is for this host and https only, whatever a proxy forwards', async () => {
    const token = issueSession(gateway.services)
    gateway.services.behaviours.set('login', () => json({ token, expiresAt: '2031-02-03T04:05:06.000Z' }))
    const response = await fetch(`${gateway.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-Proto': 'http' },
      body: JSON.stringify({ email: 'one@example.com', password: 'secret words' }),
    })
    assert.deepEqual(response.headers.getSetCookie(), [
      `__Host-auth_token=${token}; Path=/; Expires=Mon, 03 Feb 2031 04:05:06 GMT; HttpOnly; Secure; SameSite=Lax`,
      `auth_token${expired}`,
    ])
    assert.equal((await me(response.headers.getSetCookie()[0]!.split(';')[0]!)).status, 200)
  })

  it('wins over cookies that a sibling domain planted, in whatever order they come', async () => {
    const own = `__Host-auth_token=${issueSession(gateway.services)}`
    for (const planted of ['auth_token=nonsense', 'authorization=nonsense']) {
      assert.equal((await me(`${planted}; ${own}`)).status, 200)
      assert.equal((await me(`${own}; ${planted}`)).status, 200)
    }
    const planted = `auth_token=${issueSession(gateway.services)}`
    assert.equal((await me(`${planted}; __Host-auth_token=nonsense`)).status, 401, 'nor does one stand in for it')
  })

  it('keeps accepting the names of the contract', async () => {
    for (const name of ['auth_token', 'authorization'])
      assert.equal((await me(`${name}=${issueSession(gateway.services)}`)).status, 200)
  })

  it('is removed by signing out, with a plain one', async () => {
    gateway.services.behaviours.set('logout', () => ({ success: true, message: 'signed out' }))
    const headers = { Cookie: `__Host-auth_token=${issueSession(gateway.services)}`, 'Sec-Fetch-Site': 'same-origin' }
    const response = await fetch(`${gateway.url}/api/auth/logout`, { method: 'POST', headers })
    assert.deepEqual(response.headers.getSetCookie(), [`__Host-auth_token${expired}`, `auth_token${expired}`])
  })
})
