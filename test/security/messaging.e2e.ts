import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { type Document, MongoClient } from 'mongodb'
import { type Api, bodyOf, signIn } from '../api.ts'
import { type AccountProvider, startAccountProvider } from '../messaging/mail-account-provider.ts'
import { verifiedDomain } from '../messaging/verified-domain.ts'
import { startStack, type TestStack } from '../stack.ts'

type Sender = { id: string; owner: string | null; oauth: { status: string; email: string | null } }
type Page<T> = { docs: T[]; totalDocs: number }
type Outcome = { success: boolean; message: string }
type Person = { id: string; email: string; api: Api }

const senders = '/api/emails/senders'
const mailDomain = 'mail.rollcall-test.com'
const account = 'person@accounts.example'
const password = 'made for tests only'

let provider: AccountProvider
let relay: MailServer
let accounts: MailServer
let dns: TestDns
let stack: TestStack
let count = 0
const closing: (() => unknown)[] = []

before(async () => {
  provider = await startAccountProvider(account)
  relay = await startMailServer()
  accounts = await startMailServer({ user: account, secret: () => provider.accessToken })
  dns = await startTestDns()
  closing.push(provider.stop, relay.stop, accounts.stop, dns.stop)
  stack = await startStack({
    settings: {
      REGISTRATION: 'open',
      TRUST_PROXY: '1',
      GOOGLE_ISSUER: provider.issuer,
      GOOGLE_CLIENT_ID: 'client of the tests',
      GOOGLE_CLIENT_SECRET: 'secret of the tests',
      GOOGLE_SMTP_URL: `smtp://127.0.0.1:${accounts.port}`,
      DNS_SERVERS: `${dns.resolver.address}:${dns.resolver.port}`,
      SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
      MAIL_FROM: 'Rollcall <no-reply@rollcall-test.com>',
      MAIL_RETRY_MS: '60000',
      MAIL_PER_ORGANIZATION_HOUR: '12',
      DNS_CHECK_SECONDS: '10',
      DOMAINS_PER_ORGANIZATION: '4',
      MAIL_PER_ADDRESS_DAY: '3',
    },
  })
  closing.push(stack.stop)
  await verifiedDomain(stack, mailDomain)
})
after(async () => {
  for (const close of closing.reverse()) await close()
})

/** Uses another address, so that the limits of one address do not apply. */
const spread = (api: Api): Api => api.with({ 'x-forwarded-for': `198.51.100.${count++ % 256}` })

async function collection<T>(
  name: string,
  use: (of: import('mongodb').Collection<Document>) => Promise<T>,
): Promise<T> {
  await using client = new MongoClient(stack.backing.MONGODB_URL)
  return await use(client.db(`${stack.namespace}rollcall_messaging`).collection(name))
}

async function addPerson(role = 'admin'): Promise<Person> {
  const email = `person-${count++}@rollcall.test`
  const { id } = await bodyOf(
    stack.owner.post<{ id: string }>('/api/users', { name: 'Person', email, password, role }),
    201,
  )
  return { id, email, api: await signIn(spread(stack.api), email, password) }
}

const createOauth = (api: Api, fields: object = {}) => {
  const sender = { name: 'N', email: account, delivery: 'oauth', oauth: { provider: 'google' }, ...fields }
  return bodyOf(api.post<Sender>(senders, sender), 201)
}
const createHosted = (api: Api) =>
  bodyOf(api.post<Sender>(senders, { name: 'N', email: `s${count++}@${mailDomain}`, delivery: 'hosted' }), 201)
const start = (api: Api, sender: string) => api.get<{ url: string }>(`${senders}/oauth/google/start`, { sender })

/** Calls the callback like a browser that the provider redirects, and does not follow the redirect. */
const follow = async (path: string): Promise<URL> => {
  const answer = await fetch(new URL(path, stack.urls[0]), { redirect: 'manual' })
  assert.equal(answer.status, 303, await answer.text())
  return new URL(answer.headers.get('location')!)
}
const comeBack = async (url: string) => Object.fromEntries((await follow(provider.consent(url))).searchParams)
const finish = (api: Api, { code, state, iss }: Record<string, string>) =>
  spread(api).post<Outcome>(`${senders}/oauth/google/finish`, { code, state, iss })
const isConnected = async (api: Api, id: string) =>
  (await bodyOf(api.get<Sender>(`${senders}/${id}`))).oauth.status === 'connected'

const until = <T>(look: () => Promise<T | undefined | null | false>): Promise<T> =>
  eventually(String(look), async () => (await look()) || undefined, { withinMs: 10_000 })

describe('finding 6: connecting a mail account', () => {
  it('is not begun by an impersonator, not even stored', async () => {
    const person = await addPerson()
    const { id } = await createOauth(person.api, { email: 'victim@example.com' })
    const { token } = await bodyOf(stack.owner.post<{ token: string }>('/api/auth/impersonate', { userId: person.id }))
    const { status, body } = await start(stack.api.as(token), id)
    assert.equal(status, 403, JSON.stringify(body))
    assert.equal(await collection('oauth_requests', requests => requests.countDocuments()), 0)
  })

  it('is not finished by coming back: only the session that began it can, once', async () => {
    const person = await addPerson()
    const { id } = await createOauth(person.api)
    const { url } = await bodyOf(start(person.api, id))
    const back = provider.consent(url)
    await fetch(new URL(back, stack.urls[0]), { redirect: 'manual' })
    assert.equal(await isConnected(person.api, id), false)
    const led = await follow(back)
    assert.equal(led.pathname, '/connect-account')
    const answer = Object.fromEntries(led.searchParams)
    const elsewhere = await signIn(spread(stack.api), person.email, password)
    for (const [api, status] of [
      [stack.api, 401],
      [stack.owner, 403],
      [elsewhere, 403],
    ] as const) {
      assert.equal((await finish(api, answer)).status, status)
      assert.equal(await isConnected(person.api, id), false)
    }
    assert.deepEqual((await finish(person.api, answer)).body, { success: true, message: 'connected' })
    assert.equal(await isConnected(person.api, id), true)
    assert.equal((await finish(person.api, answer)).status, 400)
    await collection('senders', all => all.deleteOne({ emailKey: account }))
  })

  it('takes no account of another address, unless the domain of the sender is verified', async () => {
    const { id } = await createOauth(stack.owner, { email: 'someone.else@accounts.example' })
    const answer = await comeBack((await bodyOf(start(stack.owner, id))).url)
    const { status, body } = await finish(stack.owner, answer)
    assert.deepEqual(
      [status, body],
      [
        400,
        {
          success: false,
          message: `the connected account is ${account}, but the sender is someone.else@accounts.example: sign in with that account, or verify the domain accounts.example`,
        },
      ],
    )
    assert.equal(await isConnected(stack.owner, id), false)
    const verified = await createOauth(stack.owner, { email: `alias@${mailDomain}` })
    await bodyOf(finish(stack.owner, await comeBack((await bodyOf(start(stack.owner, verified.id))).url)))
    assert.equal(await isConnected(stack.owner, verified.id), true)
  })

  it('ends on a page of this server, which loads nothing from elsewhere', async () => {
    const page = await fetch(`${stack.urls[0]}/connect-account?code=c&state=s&provider=google`)
    assert.equal(page.status, 200)
    const policy = page.headers.get('content-security-policy')!
    assert.match(policy, /default-src 'none'/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    assert.equal(page.headers.get('cache-control'), 'no-store')
    const text = await page.text()
    const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!)
    assert.ok(assets.length >= 2, text)
    for (const path of assets) {
      assert.ok(path.startsWith('/connect-account'), path)
      assert.equal((await fetch(`${stack.urls[0]}${path}`)).status, 200, path)
    }
  })
})

describe('issue: a test mail of a sender', () => {
  it('shows in the contact’s emails', async () => {
    const email = `contact-${count++}@example.com`
    const contact = await bodyOf(stack.owner.post<{ id: string }>('/api/audience', { email, name: 'C' }), 201)
    const { id } = await createHosted(stack.owner)
    await bodyOf(stack.owner.post(`${senders}/${id}/test`, { to: email }))
    const shown = await until(async () => {
      const page = await bodyOf(
        stack.owner.get<Page<{ status: string; subject: string }>>(`/api/audience/${contact.id}/emails`),
      )
      return page.docs[0]
    })
    assert.deepEqual([shown.status, shown.subject], ['sent', 'Test of “N”'])
    const kept = await collection('mails', mails => mails.findOne({ to: email }))
    assert.deepEqual([kept?.kind, kept?.text], ['test', null])
  })
})

describe('finding F8: a sender whose owner is gone', () => {
  it('is listed, read and transferred by the owner of the organization, who then may share it', async () => {
    const person = await addPerson()
    const heir = await addPerson()
    const friend = await addPerson()
    const { id } = await createHosted(person.api)
    await bodyOf(stack.owner.delete(`/api/users/${person.id}`))
    await until(async () => (await collection('senders', all => all.findOne({ owner: null }))) !== null)
    const listed = await bodyOf(stack.owner.get<Page<Sender>>(senders, { filter: { owner: null } }))
    assert.deepEqual(
      listed.docs.map(sender => sender.id),
      [id],
    )
    assert.equal((await bodyOf(stack.owner.get<Sender>(`${senders}/${id}`))).owner, null)
    assert.equal((await heir.api.get(`${senders}/${id}`)).status, 404)
    assert.equal((await bodyOf(heir.api.get<Page<Sender>>(senders))).totalDocs, 0)
    await bodyOf(stack.owner.patch(`${senders}/${id}/transfer`, { userId: heir.id }))
    await bodyOf(heir.api.patch(`${senders}/${id}/share`, { userIds: [friend.id] }))
    assert.equal((await bodyOf(heir.api.get<Page<object>>(`${senders}/${id}/shared-users`))).totalDocs, 1)
    await bodyOf(heir.api.patch(`${senders}/${id}/unshare`, { userIds: [friend.id] }))
    assert.equal((await friend.api.get(`${senders}/${id}`)).status, 404)
    await bodyOf(heir.api.delete(`${senders}/${id}`))
  })

  it('gives its owner no rights of a creator who is there', async () => {
    const [maker, holder] = [await addPerson(), await addPerson()]
    const { id } = await createHosted(maker.api)
    await bodyOf(maker.api.patch(`${senders}/${id}/transfer`, { userId: holder.id }))
    assert.equal((await holder.api.patch(`${senders}/${id}/share`, { userIds: [maker.id] })).status, 403)
  })
})

describe('finding 9: mail with a stranger’s words', () => {
  const bait = 'Suspended: https://evil.example/login or www.evil.example'
  const textOf = async (to: string) => {
    const { raw } = await relay.mailTo(to)
    const [head = '', body = ''] = raw.toString().split(/\r\n\r\n(.*)/s)
    return /^content-transfer-encoding: base64/im.test(head)
      ? Buffer.from(body, 'base64').toString()
      : Buffer.from(
          body
            .replace(/=\r\n/g, '')
            .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
          'latin1',
        ).toString()
  }
  const requireHarmless = (text: string) => {
    assert.match(text, /“Suspended: https: \/\/evil\. example\/login or www\. evil\. example”/)
    assert.doesNotMatch(text, /evil\.example/)
  }

  it('shows names of accounts, workspaces and inviters in quotes, and makes no links of them', async () => {
    const name = bait.slice(0, 100)
    const invited = `invited-${count++}@example.com`
    await bodyOf(stack.owner.post('/api/users', { name, email: invited }), 201)
    requireHarmless(await textOf(invited))
    const { id } = await bodyOf(stack.owner.post<{ id: string }>('/api/workspaces', { name }), 201)
    const guest = `guest-${count++}@example.com`
    await bodyOf(stack.owner.post(`/api/workspaces/${id}/invitations`, { email: guest, role: 'user' }), 201)
    requireHarmless(await textOf(guest))
  })

  it('429: limits mails per address and day, and per organization and hour; stores nothing', async () => {
    const { id } = await createHosted(stack.owner)
    const test = (to: string) => stack.owner.post<Outcome>(`${senders}/${id}/test`, { to })
    const victim = `victim-${count++}@example.com`
    for (let times = 0; times < 3; times++) await bodyOf(test(victim))
    const refused = await test(victim.toUpperCase())
    assert.equal(refused.status, 429)
    assert.equal(refused.body.message, 'limit reached: 3 mails per address and day')
    assert.ok(Number(refused.headers.get('retry-after')) > 80_000)
    const create = () => stack.owner.post<Outcome>('/api/users', { name: 'N', email: victim })
    assert.equal((await create()).status, 429)
    assert.equal(
      (await bodyOf(stack.owner.get<Page<object>>('/api/users', { filter: { email: victim } }))).totalDocs,
      0,
    )
    const statuses: number[] = []
    for (let mails = 0; mails < 12; mails++) statuses.push((await test(`many-${count++}@example.com`)).status)
    assert.ok(statuses.includes(200) && statuses.at(-1) === 429, String(statuses))
    const over = await test(`many-${count++}@example.com`)
    assert.equal(over.body.message, 'limit reached: 12 mails per organization and hour')
    assert.equal(relay.mails.filter(({ to }) => to.toLowerCase() === victim).length, 3)
  })

  it('a public route answers as always, and sends nothing over the quota; one purpose does not use up another', async () => {
    const { email } = await addPerson()
    const forgot = () => bodyOf(spread(stack.api).post<Outcome>('/api/auth/password/forgot', { email }))
    const answers: Outcome[] = []
    for (let times = 0; times < 5; times++) answers.push(await forgot())
    assert.equal(new Set(answers.map(answer => JSON.stringify(answer))).size, 1)
    await bodyOf(spread(stack.api).post('/api/auth/otp/request', { email }))
    await until(async () => relay.mails.some(({ to, raw }) => to === email && /Your sign-in code/.test(String(raw))))
    const asked = { _id: /password_reset/, count: 5 }
    await until(() => collection('usage_windows', windows => windows.findOne(asked as object)))
    await until(async () => relay.mails.filter(({ to }) => to === email).length === 4)
    assert.equal(await collection('mails', mails => mails.countDocuments({ to: email })), 4)
  })
})

describe('finding 26: codes and links in stored mails', () => {
  it('are dropped once they have expired, though the mail was never sent', async () => {
    relay.refuse = to => (to.startsWith('person-') ? { code: 451, message: 'Try later' } : undefined)
    const { email } = await addPerson()
    await bodyOf(spread(stack.api).post('/api/auth/otp/request', { email }))
    const stored = () => collection('mails', mails => mails.findOne({ to: email }))
    const waiting = await until(async () => (await stored())?.attempts === 1 && (await stored()))
    assert.match(String(waiting.text), /\d{6} is your code/)
    const minutesLeft = (waiting.expiresAt.getTime() - Date.now()) / 60_000
    assert.ok(minutesLeft > 8 && minutesLeft <= 10, String(minutesLeft))
    // As if ten minutes had passed.
    const past = new Date(Date.now() - 1000)
    await until(async () => (await stored())?.error !== null)
    await collection('mails', mails => mails.updateOne({ to: email }, { $set: { expiresAt: past, dueAt: past } }))
    const ended = await until(async () => (await stored())?.status === 'failed' && (await stored()))
    assert.deepEqual([ended.text, ended.dueAt, ended.error], [null, null, 'the code or link in it has expired'])
    relay.refuse = () => undefined
  })
})

describe('finding 25: DNS as a tool', () => {
  it('429: a domain that was checked less than ten seconds ago, also one that was deleted and added again', async () => {
    const domain = 'checked.rollcall-test.com'
    const create = () => bodyOf(stack.owner.post<{ id: string }>('/api/emails/domains', { domain }), 201)
    const { id } = await create()
    const act = (action: string, of = id) => stack.owner.post<Outcome>(`/api/emails/domains/${of}/${action}`, {})
    const statuses = (await Promise.all([act('verify'), act('verify'), act('check')])).map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 429).length, 2, String(statuses))
    const asked = dns.asked.length
    const refused = await act('verify')
    assert.deepEqual(
      [refused.status, refused.body.message],
      [429, 'limit reached: 1 DNS check per domain in 10 seconds'],
    )
    assert.ok(Number(refused.headers.get('retry-after')) <= 10)
    await bodyOf(stack.owner.delete(`/api/emails/domains/${id}`))
    const again = await create()
    assert.equal((await act('check', again.id)).status, 429)
    assert.equal(dns.asked.length, asked)
    await bodyOf(stack.owner.delete(`/api/emails/domains/${again.id}`))
  })
})

describe('finding 12: domains of an organization', () => {
  it('409: one more than the limit, however many are added at once', async () => {
    const { totalDocs } = await bodyOf(stack.owner.get<Page<object>>('/api/emails/domains'))
    const add = (number: number) =>
      stack.owner.post<Outcome>('/api/emails/domains', { domain: `d${number}.rollcall-test.com` })
    const answers = await Promise.all(Array.from({ length: 8 }, (_, number) => add(number)))
    const refused = answers.filter(({ status }) => status === 409)
    assert.equal(refused.length, 8 - (4 - totalDocs), answers.map(({ status }) => status).join())
    for (const { body } of refused) assert.equal(body.message, 'limit reached: 4 domains per organization')
    assert.equal((await bodyOf(stack.owner.get<Page<object>>('/api/emails/domains'))).totalDocs, 4)
  })
})
