import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { MongoClient } from 'mongodb'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { type AccountProvider, startAccountProvider } from './mail-account-provider.ts'
import { verifiedDomain } from './verified-domain.ts'

type Sender = { id: string; oauth: { status: string; email: string | null; connectedAt: string | null } }
type Outcome = { success: boolean; message: string }

const senders = '/api/emails/senders'
const account = 'person@accounts.example'
const domain = 'mail.accounts.example'
const notBegun = 'the request to connect an account has expired or was used: start again'

describe('senders by a mail account', () => {
  let provider: AccountProvider
  let server: MailServer
  let stack: TestStack
  let count = 0

  before(async () => {
    provider = await startAccountProvider(account)
    server = await startMailServer({ user: account, secret: () => provider.accessToken })
    stack = await startStack({
      settings: {
        GOOGLE_ISSUER: provider.issuer,
        GOOGLE_CLIENT_ID: 'client of the tests',
        GOOGLE_CLIENT_SECRET: 'secret of the tests',
        GOOGLE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      },
    })
    await verifiedDomain(stack, domain)
  })
  after(async () => {
    await stack.stop()
    await server.stop()
    await provider.stop()
  })

  const create = (api: Api = stack.owner, name = 'google') => {
    const sender = { name: 'N', email: `s${count++}@${domain}`, delivery: 'oauth', oauth: { provider: name } }
    return bodyOf(api.post<Sender>(senders, sender), 201)
  }
  const start = async (id: string, api: Api = stack.owner) =>
    (await bodyOf(api.get<{ url: string }>(`${senders}/oauth/google/start`, { sender: id }))).url
  /** The parameters of the provider's redirect, as the callback passes them on. */
  const comeBack = async (path: string): Promise<Record<string, string>> => {
    const { headers, status } = await fetch(new URL(path, stack.urls[0]), { redirect: 'manual' })
    assert.equal(status, 303)
    const url = new URL(headers.get('location')!)
    assert.equal(url.pathname, '/connect-account')
    return Object.fromEntries(url.searchParams)
  }
  const consent = async (id: string, api: Api = stack.owner) => comeBack(provider.consent(await start(id, api)))
  const finish = (answer: Record<string, string>, status = 200, api: Api = stack.owner, name = 'google') => {
    const { code, state, iss } = answer
    return bodyOf(api.post<Outcome>(`${senders}/oauth/${name}/finish`, { code, state, iss }), status)
  }
  const test = (id: string, to: string, status = 200) =>
    bodyOf(stack.owner.post<Outcome>(`${senders}/${id}/test`, { to }), status)
  const connected = async () => {
    const { id } = await create()
    await finish(await consent(id))
    return id
  }

  it('are connected by consent, with PKCE, and send by the account’s token', async () => {
    const { id, oauth } = await create()
    assert.equal(oauth.status, 'pending')
    const url = new URL(await start(id))
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
    const answer = await comeBack(provider.consent(url.href))
    assert.equal(answer.provider, 'google')
    assert.deepEqual(await finish(answer), { success: true, message: 'connected' })
    const { oauth: after } = await bodyOf(stack.owner.get<Sender>(`${senders}/${id}`))
    assert.deepEqual([after.status, after.email], ['connected', account])
    assert.ok(after.connectedAt)
    assert.equal(provider.asked.at(-1)!.grant_type, 'authorization_code')
    await test(id, 'contact-1@example.com')
    assert.equal((await server.mailTo('contact-1@example.com')).user, account)
  })

  it('renew a token that has run out', async () => {
    provider.lifetimeSeconds = 30 // less than the safety margin
    const id = await connected()
    provider.lifetimeSeconds = 3600
    const before = provider.accessToken
    await test(id, 'contact-2@example.com')
    assert.notEqual(provider.accessToken, before)
    assert.equal(provider.asked.at(-1)!.grant_type, 'refresh_token')
  })

  it('have to be connected again once the consent was taken back', async () => {
    provider.lifetimeSeconds = 30
    const id = await connected()
    provider.isRevoked = true
    assert.match((await test(id, 'contact@example.com', 400)).message, /has to be connected again/)
    provider.isRevoked = false
    provider.lifetimeSeconds = 3600
    assert.equal((await bodyOf(stack.owner.get<Sender>(`${senders}/${id}`))).oauth.status, 'expired')
    await finish(await consent(id))
    await test(id, 'contact-3@example.com')
  })

  it('400: what comes back a second time, altered, or to the wrong provider', async () => {
    const { id } = await create()
    const back = await consent(id)
    await finish({ ...back, state: `${back.state}x` }, 400)
    await finish(back, 400, stack.owner, 'microsoft')
    await finish(back)
    assert.deepEqual(await finish(back, 400), { success: false, message: notBegun })
    await finish({ ...(await consent(id)), code: 'forged' }, 400)
    const { iss: _, ...unnamed } = await consent(id)
    for (const answer of [{ ...(await consent(id)), iss: 'https://forged.example' }, unnamed]) {
      const { message } = await finish(answer, 400)
      assert.equal(message, 'google: the response does not belong to this request')
    }
    for (const path of ['callback', 'callback?state=', 'callback?state=a&state=b', 'start', 'start?sender=x']) {
      assert.equal((await stack.owner.get(`${senders}/oauth/google/${path}`)).status, 400, path)
    }
    for (const body of [{}, { code: 'c' }, { state: 's' }, { code: '', state: 's' }, { ...back, more: 1 }]) {
      assert.equal((await stack.owner.post(`${senders}/oauth/google/finish`, body)).status, 400, JSON.stringify(body))
    }
    assert.equal((await stack.owner.get(`${senders}/oauth/yahoo/start?sender=${id}`)).status, 400)
  })

  it('303: the callback hands on why there is no code', async () => {
    const { id } = await create()
    const denied = provider.consent(await start(id)).replace(/code=\w+/, 'error=access_denied&error_description=No')
    const { error, error_description: description, code } = await comeBack(denied)
    assert.deepEqual([error, description, code], ['access_denied', 'No', undefined])
  })

  it('finish in the browser that began, by its cookie; 403 in another session, 401 once it has ended', async () => {
    const { id } = await create()
    const cookie = await signInCookie()
    const browser = stack.api.with({ cookie, 'sec-fetch-site': 'same-origin' })
    const begun = await consent(id, browser)
    const other = stack.api.with({ cookie: await signInCookie(), 'sec-fetch-site': 'same-origin' })
    await finish(begun, 403, other)
    await finish(begun, 403, (await makeToken(stack.owner)).api)
    await finish(begun, 403, stack.api.with({ cookie, 'sec-fetch-site': 'cross-site' }))
    await finish(begun, 200, browser)
    const again = await consent(id, browser)
    await bodyOf(browser.post('/api/auth/logout', {}))
    const { status } = await browser.post(`${senders}/oauth/google/finish`, { code: again.code, state: again.state })
    assert.equal(status, 401)
  })

  it('400: at a provider that this installation is not registered at, or another than the sender’s', async () => {
    const microsoft = await create(stack.owner, 'microsoft')
    const answer = await stack.owner.get<Outcome>(`${senders}/oauth/microsoft/start`, { sender: microsoft.id })
    assert.deepEqual(answer.body, { success: false, message: 'this installation is not registered with microsoft' })
    assert.equal((await stack.owner.get(`${senders}/oauth/google/start`, { sender: microsoft.id })).status, 400)
  })

  it('keep tokens encrypted', async () => {
    const id = await connected()
    await using client = new MongoClient(stack.backing.MONGODB_URL)
    const stored = await client.db(`${stack.namespace}rollcall_messaging`).collection('senders').find().toArray()
    assert.ok(stored.some(({ _id, oauthTokens }) => String(_id) === id && oauthTokens))
    assert.ok(!JSON.stringify(stored).includes(provider.accessToken))
  })

  /** The cookie of another session. */
  async function signInCookie(): Promise<string> {
    const { headers } = await stack.api.post('/api/auth/login', { email: OWNER.email, password: OWNER.password })
    return headers.get('set-cookie')!.split(';')[0]!
  }
})
