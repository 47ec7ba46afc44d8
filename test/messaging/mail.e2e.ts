import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createBus, topics } from '@rollcall/bus'
import { type Client, connect, serviceCaller } from '@rollcall/rpc'
import { createLogger, type Event } from '@rollcall/runtime'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { type Api, bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

type Domain = { id: string; sendingRecords: { type: string; name: string; value: string }[] }
type Sender = { id: string }
type Campaign = {
  status: string
  counts: { recipients: number; sent: number; waiting: number; suppressed: { unsubscribed: number } }
}
type Outcome = { success: boolean; message: string }

const domain = 'mail.rollcall-test.com'
const senders = '/api/emails/senders'

describe('mail', () => {
  let dns: TestDns
  let relay: MailServer
  let own: MailServer
  let stack: TestStack
  let owner: Api
  let organizationId: string
  let mail: Client<'rollcall.messaging.v1.Mail'>
  const events: Event[] = []
  const closing: (() => unknown)[] = []

  before(async () => {
    dns = await startTestDns()
    relay = await startMailServer()
    own = await startMailServer({ user: 'user', secret: 'the secret' })
    closing.push(dns.stop, relay.stop, own.stop)
    stack = await startStack({
      processes: ['messaging'],
      settings: {
        DNS_SERVERS: `${dns.resolver.address}:${dns.resolver.port}`,
        SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
        SMTP_ALLOW_PRIVATE: 'true',
        MAIL_FROM: 'Rollcall <no-reply@rollcall-test.com>',
        MAIL_HOST: 'mx.rollcall-test.com',
        MAIL_RETRY_MS: '200',
        MAIL_ATTEMPTS: '4',
      },
    })
    closing.push(stack.stop)
    owner = stack.owner
    const me = await bodyOf(owner.get<{ organization: { id: string } }>('/api/auth/me'))
    organizationId = me.organization.id
    const [messaging] = stack.instances('messaging')
    const address = `127.0.0.1:${messaging!.port}`
    const connection = connect({ address, trust: stack.trust('identity') })
    mail = connection.client('rollcall.messaging.v1.Mail')
    const bus = createBus({
      brokers: stack.backing.KAFKA_BROKERS.split(','),
      clientId: 'test',
      logger: createLogger({ service: 'test', level: 'silent' }),
      topicPrefix: stack.namespace,
    })
    bus.consume({ group: 'test', topics: [topics.messaging], handle: async event => void events.push(event) })
    closing.push(() => connection.close(), bus.close)
    await verifyDomain()
  })
  after(async () => {
    for (const close of closing.reverse()) await close()
  })

  /** Adds the domain, publishes its records in the test's DNS, and verifies it. */
  async function verifyDomain() {
    const { id, sendingRecords } = await bodyOf(owner.post<Domain>('/api/emails/domains', { domain }), 201)
    const records = sendingRecords.map(({ type, name, value }) => ({
      type,
      name,
      data: type === 'TXT' ? (value.match(/.{1,255}/g) ?? []) : value,
    }))
    dns.zone('rollcall-test.com', ['127.0.0.2'], records)
    await bodyOf(owner.post(`/api/emails/domains/${id}/verify`))
  }

  /** Checks a mail's signatures like a receiver, with the published keys. */
  async function signatures(raw: Buffer): Promise<[result: string, domain: string][]> {
    const resolver = new Resolver()
    resolver.setServers([`${dns.resolver.address}:${dns.resolver.port}`])
    const { results } = await dkimVerify(raw, { resolver: (name, type) => resolver.resolve(name, type) as never })
    return results.map(({ status, signingDomain }) => [status.result, signingDomain ?? ''])
  }

  let count = 0
  const create = async (fields: Record<string, unknown>): Promise<string> => {
    const sender = { name: 'Sender One', email: `sender-${count++}@${domain}`, ...fields }
    return (await bodyOf(owner.post<Sender>(senders, sender), 201)).id
  }
  const createSmtp = (server: Record<string, unknown> = {}) => {
    const smtp = { host: '127.0.0.1', port: own.port, username: 'user', password: 'the secret', ...server }
    return create({ delivery: 'smtp', smtp })
  }
  const test = (id: string, to: string, status = 200) =>
    bodyOf(owner.post<Outcome>(`${senders}/${id}/test`, { to }), status)

  const send = (to: string, more: object = {}) =>
    mail.sendMail(
      { key: `key of ${to}`, to, subject: 'Subject', text: 'The text.', ...more },
      { caller: serviceCaller('identity', organizationId) },
    )
  const eventsOf = async (id: string, last: string): Promise<Event[]> => {
    const found = () => events.filter(event => event.subject === id)
    await eventually(`${last} of ${id}`, () => found().some(({ type }) => type === last), { withinMs: 30_000 })
    return found()
  }
  const typesOf = async (id: string, last: string) => (await eventsOf(id, last)).map(({ type }) => type)

  it('of a custom SMTP sender arrives at its server, signed by the domain’s published key', async () => {
    const id = await createSmtp()
    await bodyOf(owner.patch(`${senders}/${id}`, { name: 'Ünïcode', replyTo: 'answers@example.com' }))
    const { success, message } = await test(id, 'contact-1@example.com')
    assert.ok(success && message.startsWith('250'), message)
    const { from, user, raw } = await own.mailTo('contact-1@example.com')
    assert.deepEqual([from, user], [`sender-${count - 1}@${domain}`, 'user'])
    assert.match(raw.toString(), /^Reply-To: answers@example\.com\r$/m)
    assert.deepEqual(await signatures(raw), [['pass', domain]])
    const forged = Buffer.from(raw.toString().replace('can send', 'can lie'))
    assert.deepEqual(await signatures(forged), [['neutral', domain]])
  })

  it('of a hosted sender, of a self-hosted domain’s and of no sender goes out over SMTP_URL', async () => {
    for (const delivery of ['hosted', 'provider']) {
      const to = `${delivery}@example.com`
      await test(await create({ delivery }), to)
      const { raw } = await relay.mailTo(to)
      assert.match(raw.toString(), /^DKIM-Signature: /m)
    }
    await send('system@example.com')
    const { from, raw } = await relay.mailTo('system@example.com')
    assert.equal(from, 'no-reply@rollcall-test.com')
    assert.match(raw.toString(), /^From: Rollcall <no-reply@rollcall-test\.com>\r$/m)
  })

  it('400: returns the reply of the server, or why there was none', async () => {
    const wrong = await createSmtp({ password: 'wrong' })
    assert.match((await test(wrong, 'contact@example.com', 400)).message, /^535 /)
    own.refuse = (to, stage) =>
      stage === 'RCPT' && to === 'nobody@example.com' ? { code: 550, message: 'No such user here' } : undefined
    const answer = await test(await createSmtp(), 'nobody@example.com', 400)
    assert.deepEqual(answer, { success: false, message: '550 No such user here' })
    const closed = await createSmtp({ port: 1 })
    assert.match((await test(closed, 'contact@example.com', 400)).message, /ECONNREFUSED/)
    const pending = await create({ delivery: 'oauth', oauth: { provider: 'google' } })
    assert.deepEqual(await test(pending, 'contact@example.com', 400), {
      success: false,
      message: 'the account is not connected',
    })
  })

  it('is accepted once by its key, sent, and published', async () => {
    const sender = await create({ delivery: 'hosted' })
    const one = await send('once@example.com', { senderId: sender, userId: 'a'.repeat(24), html: '<b>The text.</b>' })
    assert.deepEqual(await send('once@example.com', { senderId: sender }), one)
    const events = await eventsOf(one.id, 'email.sent')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['email.queued', 'email.sent'],
    )
    const { at: _, ...data } = events[1]!.data as Record<string, unknown>
    assert.deepEqual(data, {
      emailId: one.id,
      kind: 'transactional',
      to: 'once@example.com',
      subject: 'Subject',
      sender: `sender-${count - 1}@${domain}`,
      userId: 'a'.repeat(24),
    })
    const { raw } = await relay.mailTo('once@example.com')
    assert.match(raw.toString(), new RegExp(`^Message-ID: <${one.id}@${domain}>\r$`, 'mi'))
    assert.equal(relay.asked.filter(to => to === 'once@example.com').length, 1)
  })

  it('of a campaign reaches each contact of its audience once, and says how to unsubscribe', async () => {
    const sender = await create({ delivery: 'provider' })
    const { id: list } = await bodyOf(owner.post<{ id: string }>('/api/audience-lists', { name: 'Readers' }), 201)
    const emails = ['reader-1@example.com', 'reader-2@example.com', 'former@example.com']
    for (const email of emails)
      await bodyOf(
        owner.post('/api/audience', { email, name: `<${email}>`, unsubscribed: email.startsWith('former') }),
        201,
      )
    await bodyOf(owner.post(`/api/audience-lists/${list}/contacts`, { emails }))
    const html = '<p>Hello {{ contact.name }}</p><a href="{{ unsubscribe_url }}">Unsubscribe</a>'
    const content = { name: 'Spring', subject: 'Hi {{ contact.email }}', html, sender, lists: [list] }
    const campaigns = '/api/emails/campaigns'
    const { id } = await bodyOf(owner.post<{ id: string }>(campaigns, content), 201)
    await bodyOf(owner.post(`${campaigns}/${id}/test`, { to: ['tester@example.com'] }))
    assert.match((await relay.mailTo('tester@example.com')).raw.toString(), /^Subject: \[Test\] Hi .+@/m)
    await bodyOf(owner.post(`${campaigns}/${id}/start`))
    const { counts } = await eventually('the campaign is sent', async () => {
      const campaign = await bodyOf(owner.get<Campaign>(`${campaigns}/${id}`))
      return campaign.status === 'sent' && campaign
    })
    assert.deepEqual([counts.recipients, counts.sent, counts.suppressed.unsubscribed, counts.waiting], [3, 2, 1, 0])
    for (const to of emails.slice(0, 2)) {
      const raw = (await relay.mailTo(to)).raw
      assert.match(raw.toString(), /^List-Unsubscribe:\s+<http:\/\/localhost:\d+\/u\/[\w-]+>\r$/m)
      assert.match(raw.toString(), new RegExp(`^Subject: Hi ${to}\r$`, 'm'))
      assert.match(raw.toString(), /&lt;reader-/)
      assert.deepEqual(await signatures(raw), [['pass', domain]])
    }
    assert.deepEqual(relay.asked.filter(to => emails.includes(to)).toSorted(), emails.slice(0, 2))
    const { docs } = await bodyOf(owner.get<{ docs: { status: string }[] }>(`${campaigns}/${id}/recipients`))
    assert.deepEqual(docs.map(({ status }) => status).toSorted(), ['sent', 'sent', 'suppressed'])
  })

  it('without a sender uses the default one only if requested', async () => {
    const id = await createSmtp()
    await bodyOf(owner.patch(`${senders}/${id}/set-default`))
    await send('by-default@example.com', { fromDefault: true })
    await own.mailTo('by-default@example.com')
    await send('password-link@example.com')
    await relay.mailTo('password-link@example.com')
  })

  it('is tried again where the server is only busy, with the same Message-ID', async () => {
    let times = 0
    relay.refuse = to => (to === 'busy@example.com' && ++times < 3 ? { code: 451, message: 'Try later' } : undefined)
    const { id } = await send('busy@example.com')
    assert.deepEqual(await typesOf(id, 'email.sent'), ['email.queued', 'email.sent'])
    assert.equal(times, 4) // two rejections, then RCPT and DATA
  })

  it('fails after its last attempt, or immediately if its sender cannot send', async () => {
    relay.refuse = to => (to === 'never@example.com' ? { code: 451, message: 'Try later' } : undefined)
    const { id } = await send('never@example.com')
    const failed = (await eventsOf(id, 'email.failed')).at(-1)!
    assert.equal((failed.data as { error: string }).error, '451 Try later')
    assert.equal(relay.asked.filter(to => to === 'never@example.com').length, 4)
    const wrong = await createSmtp({ password: 'wrong' })
    const other = await send('no-login@example.com', { senderId: wrong })
    assert.deepEqual(await typesOf(other.id, 'email.failed'), ['email.queued', 'email.failed'])
  })

  it('bounces if the address is rejected permanently, which gets no further mail until that is lifted', async () => {
    const senderId = await create({ delivery: 'hosted' })
    const email = 'gone@example.com'
    const attempts = () => relay.asked.filter(to => to.toLowerCase() === email).length
    relay.refuse = to => (to === email ? { code: 550, message: '5.1.1 No such user' } : undefined)
    const first = await send(email, { senderId })
    const bounced = (await eventsOf(first.id, 'email.bounced')).at(-1)!
    assert.equal((bounced.data as { error: string }).error, '550 5.1.1 No such user')
    const second = await send('Gone@Example.com', { key: 'another', senderId })
    const refused = (await eventsOf(second.id, 'email.suppressed')).at(-1)!
    assert.match((refused.data as { error: string }).error, /^the address is suppressed \(hard_bounce\): 550/)
    assert.equal(attempts(), 1)
    relay.refuse = () => undefined
    const account = await send(email, { key: 'account mail' })
    assert.deepEqual(await typesOf(account.id, 'email.sent'), ['email.queued', 'email.sent'])
    await test(senderId, email) // a test shows that it works again
    const third = await send(email, { key: 'a third', senderId })
    assert.deepEqual(await typesOf(third.id, 'email.sent'), ['email.queued', 'email.sent'])
  })

  it('suppresses no address where account mail bounces', async () => {
    const email = 'account.gone@example.com'
    relay.refuse = to => (to === email ? { code: 550, message: '5.1.1 No such user' } : undefined)
    const { id } = await send(email)
    await eventsOf(id, 'email.bounced')
    const filter = JSON.stringify({ email })
    assert.deepEqual((await bodyOf(owner.get<{ docs: [] }>('/api/emails/suppressions', { filter }))).docs, [])
    relay.refuse = () => undefined
  })

  it('goes to a suppressed address again as soon as that is lifted', async () => {
    const senderId = await create({ delivery: 'hosted' })
    const email = 'lifted@example.com'
    const { id } = await bodyOf(owner.post<Sender>('/api/emails/suppressions', { email, reason: 'asked' }), 201)
    await bodyOf(owner.post('/api/emails/suppressions', { email: 'Lifted@example.com' }), 409)
    const first = await send(email, { senderId })
    assert.deepEqual(await typesOf(first.id, 'email.suppressed'), ['email.queued', 'email.suppressed'])
    await bodyOf(owner.delete(`/api/emails/suppressions/${id}`))
    const second = await send(email, { key: 'the second', senderId })
    assert.deepEqual(await typesOf(second.id, 'email.sent'), ['email.queued', 'email.sent'])
  })

  it('bounces if the message is rejected, and the address stays valid', async () => {
    relay.refuse = (to, stage) =>
      to === 'strict@example.com' && stage === 'DATA' ? { code: 554, message: '5.7.1 Looks like spam' } : undefined
    const { id } = await send('strict@example.com')
    assert.deepEqual(await typesOf(id, 'email.bounced'), ['email.queued', 'email.bounced'])
    relay.refuse = () => undefined
    const next = await send('strict@example.com', { key: 'the next' })
    assert.deepEqual(await typesOf(next.id, 'email.sent'), ['email.queued', 'email.sent'])
  })

  it('of identity is sent by messaging: a link to set a password', async () => {
    await bodyOf(owner.post('/api/users', { name: 'User One', email: 'invited@example.com' }), 201)
    const { raw } = await relay.mailTo('invited@example.com')
    assert.match(raw.toString(), /^Subject: Set your password\r$/m)
  })

  it('is sent, not lost, where messaging is killed between taking it and sending it', async () => {
    const [messaging] = stack.instances('messaging')
    const opened = Promise.withResolvers<undefined>()
    relay.refuse = () => opened.promise // some are being sent, others are not started
    const addresses = Array.from({ length: 10 }, (_, number) => `kept-${number}@example.com`)
    const ids: string[] = []
    for (const address of addresses) ids.push((await send(address)).id)
    await messaging!.kill()
    opened.resolve(undefined)
    await messaging!.start()
    for (const id of ids) assert.deepEqual(await typesOf(id, 'email.sent'), ['email.queued', 'email.sent'])
    for (const address of addresses) await relay.mailTo(address)
  })
})

describe('mail without a mail server', () => {
  it('is kept in MAIL_DIR as files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rollcall-mails-'))
    const stack = await startStack({ settings: { MAIL_DIR: folder } })
    try {
      await bodyOf(stack.owner.post('/api/users', { name: 'Zoë', email: 'invited@example.com' }), 201)
      const file = await eventually('a mail', async () => (await readdir(folder)).find(name => name.endsWith('.eml')), {
        withinMs: 15_000,
      })
      const text = await readFile(join(folder, file), 'utf8')
      assert.match(text, /^To: invited@example\.com\r$/m)
      assert.match(text, /^Hello “Zoë”,\r$/m)
      assert.match(text, /^http:\S+\/set-password\?token=\w{60}\r$/m)
    } finally {
      await stack.stop()
      await rm(folder, { recursive: true })
    }
  })
})
