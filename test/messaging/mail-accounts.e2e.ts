import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { MongoClient } from 'mongodb'
import { type MailServer, startMailServer } from '../../services/messaging/src/mail/test-mail-server.ts'
import { type Api, bodyOf, signIn } from '../api.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { type AccountProvider, startAccountProvider } from './mail-account-provider.ts'

type Sender = { id: string; oauth: { status: string; email: string | null; connectedAt: string | null } }
type Outcome = { success: boolean; message: string }

const senders = '/api/emails/senders'
const account = 'person@accounts.example'

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
  })
  after(async () => {
    await stack.stop()
    await server.stop()
    await provider.stop()
  })

  const create = (api: Api = stack.owner, name = 'google') => {
    const sender = { name: 'N', email: `s${count++}@x.example`, delivery: 'oauth', oauth: { provider: name } }
    return bodyOf(api.post<Sender>(senders, sender), 201)
  }
  const start = async (id: string, api: Api = stack.owner) =>
    (await bodyOf(api.get<{ url: string }>(`${senders}/oauth/google/start`, { sender: id }))).url
  const finish = (path: string, status = 200, api: Api = stack.api) => bodyOf(api.get<Outcome>(path), status)
  const test = (id: string, to: string, status = 200) =>
    bodyOf(stack.owner.post<Outcome>(`${senders}/${id}/test`, { to }), status)
  const connected = async () => {
    const { id } = await create()
    await finish(provider.consent(await start(id)))
    return id
  }

  it('are connected by consent, with PKCE, and send by the account’s token', async () => {
    const { id, oauth } = await create()
    assert.equal(oauth.status, 'pending')
    const url = new URL(await start(id))
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
    assert.deepEqual(await finish(provider.consent(url.href)), { success: true, message: 'connected' })
    const { oauth: after } = await bodyOf(stack.owner.get<Sender>(`${senders}/${id}`))
    assert.deepEqual([after.status, after.email], ['connected', account])
    assert.ok(after.connectedAt)
    assert.equal(provider.asked.at(-1)!.grant_type, 'authorization_code')
    await test(id, 'contact-1@example.com')
    assert.equal((await server.mailTo('contact-1@example.com')).user, account)
  })

  it('renew a token that has run out', async () => {
    provider.lifetimeSeconds = 30 // less than what is left to be on the safe side
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
    await finish(provider.consent(await start(id)))
    await test(id, 'contact-3@example.com')
  })

  it('400: what comes back a second time, altered, or to the wrong provider', async () => {
    const { id } = await create()
    const back = provider.consent(await start(id))
    const state = new URL(back, 'http://x').searchParams.get('state')!
    await finish(back.replace(state, `${state}x`), 400)
    await finish(back)
    const again = await finish(back, 400)
    assert.deepEqual(again, {
      success: false,
      message: 'the request to connect an account has expired, was used, or is not yours',
    })
    await finish(provider.consent(await start(id)).replace('/google/', '/microsoft/'), 400)
    await finish(`${provider.consent(await start(id)).replace(/code=\w+/, 'code=forged')}`, 400)
    for (const iss of ['iss=https%3A%2F%2Fforged.example', 'authuser=0']) {
      const { message } = await finish(provider.consent(await start(id)).replace(/iss=[^&]+/, iss), 400)
      assert.equal(message, 'google: what came back is not the answer to what was asked')
    }
    const denied = provider.consent(await start(id)).replace(/code=\w+/, 'error=access_denied')
    assert.equal((await finish(denied, 400)).message, 'google: access_denied')
    for (const path of ['callback', 'callback?state=', 'callback?state=a&state=b', 'start', 'start?sender=x']) {
      assert.equal((await stack.owner.get(`${senders}/oauth/google/${path}`)).status, 400, path)
    }
    assert.equal((await stack.owner.get(`${senders}/oauth/yahoo/start?sender=${id}`)).status, 400)
  })

  it('400: where the session that began has ended, or the browser is in another one', async () => {
    const other = await signIn(stack.api, OWNER.email, OWNER.password)
    const { id } = await create()
    const ended = provider.consent(await start(id, other))
    await bodyOf(other.post('/api/auth/logout', {}))
    await finish(ended, 400)
    const { token } = await bodyOf(
      stack.api.post<{ token: string }>('/api/auth/login', { email: OWNER.email, password: OWNER.password }),
    )
    const begun = provider.consent(await start(id, stack.api.as(token)))
    const foreign = await signInCookie()
    await finish(begun, 400, stack.api.with({ cookie: foreign }))
    const own = provider.consent(await start(id, stack.api.as(token)))
    await finish(own, 200, stack.api.with({ cookie: `auth_token=${token}` }))
  })

  it('400: at a provider that this installation is not registered at, or another than the sender’s', async () => {
    const microsoft = await create(stack.owner, 'microsoft')
    const answer = await stack.owner.get<Outcome>(`${senders}/oauth/microsoft/start`, { sender: microsoft.id })
    assert.deepEqual(answer.body, { success: false, message: 'this installation is not registered at microsoft' })
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
