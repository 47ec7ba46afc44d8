import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import { createLogger, createMetrics, within } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { storeSender } from '../../test/senders.ts'
import type { Context } from '../context.ts'
import { sendMail, sendMailJobs } from './send-mail.job.ts'
import { CONNECTIONS_EACH } from './smtp.ts'

let server: MailServer
let test: TestContext
before(async () => {
  server = await startMailServer()
  test = await testContext({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_ATTEMPTS: '2' })
})
after(async () => {
  await test.stop()
  await server.stop()
})

for (const attempts of [1, 2]) {
  it(`a mail that was accepted at attempt ${attempts} of 2 is sent, although the database is down then`, async () => {
    const { mails } = test.context.collections.of(test.organizationId)
    const to = `contact-${attempts}@example.com`
    const draft = {
      key: to,
      kind: 'transactional' as const,
      to,
      subject: 'S',
      text: 'T',
      from: 'a@example.com',
      messageId: '<1@a>',
      attempts,
    }
    const { _id } = await mails.insertOne({ ...draft, dueAt: new Date() })
    await sendMail(awayFor(2, test.context), (await mails.findOne({ _id }))!)
    const { status, dueAt } = (await mails.findOne({ _id }))!
    assert.deepEqual([status, dueAt], ['sent', null])
    const types = (await test.eventsOf(String(_id))).map(({ type }) => type)
    assert.deepEqual(types, ['email.sent'])
    assert.equal(server.mails.filter(mail => mail.to === to).length, 1)
  })
}

it('a message that counts opens and clicks has links and an image that do', async () => {
  const { mails } = test.context.collections.of(test.organizationId)
  const to = 'counted@example.com'
  const html = '<a href="https://example.com/a">a</a>'
  const draft = {
    key: to,
    kind: 'transactional' as const,
    to,
    subject: 'S',
    html,
    from: 'a@example.com',
    messageId: '<1@a>',
  }
  for (const track of [null, { opens: true, clicks: true }]) {
    const { _id } = await mails.insertOne({ ...draft, key: String(track), attempts: 1, dueAt: new Date(), track })
    await sendMail(test.context, (await mails.findOne({ _id }))!)
  }
  const [plain, counted] = server.mails
    .filter(mail => mail.to === to)
    .map(({ raw }) => raw.toString().replace(/=\r\n/g, ''))
  assert.match(plain!, /<a href=(3D)?"https:\/\/example\.com\/a">/)
  assert.match(counted!, /<a href=(3D)?"[^"]*\/t\/c\/[\w-]+">a<\/a><img src=(3D)?"[^"]*\/t\/o\/[\w-]+\.gif"/)
})

it('a mail whose contact was blocked while it waited for its server does not go', async t => {
  const { mails } = test.context.collections.of(test.organizationId)
  const [id, to] = ['c'.repeat(24), 'late@example.com']
  test.contacts.set(to, { id, email: to })
  server.refuse = (_to, stage) => {
    if (stage !== 'RCPT') return undefined
    test.contacts.set(to, { id, email: to, blocked: true })
    t.mock.timers.tick(60_000)
    return undefined
  }
  const draft = { key: to, kind: 'transactional' as const, to, contact: id, subject: 'S', text: 'T' }
  const about = { from: 'a@example.com', messageId: '<1@a>', attempts: 1, dueAt: new Date() }
  const { _id } = await mails.insertOne({ ...draft, ...about })
  const send = async () => sendMail(test.context, (await mails.findOne({ _id }))!)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  assert.equal(await send(), 'again')
  assert.equal((await mails.findOne({ _id }))!.failures, 0)
  assert.equal(await send(), 'done')
  server.refuse = () => undefined
  assert.equal((await mails.findOne({ _id }))!.error, 'the contact is blocked')
  assert.ok(!server.mails.some(mail => mail.to === to))
})

it('account mail goes while the mail servers of organizations take all the time of messages', async () => {
  const opened = Promise.withResolvers<void>()
  const begun: string[] = []
  const { mailJob, accountMailJob } = sendMailJobs(
    test.context.collections.unscoped.mails,
    async ({ kind, ...mail }) => {
      begun.push(kind)
      if (kind !== 'account') await opened.promise
      const { mails } = test.context.collections.of(mail.organization)
      await mails.updateOne({ _id: mail._id }, { $set: { dueAt: null } })
      return 'done'
    },
  )
  const organizations = Array.from({ length: 4 }, () => test.context.collections.of(String(new Types.ObjectId())))
  const store = (kind: 'transactional' | 'account', count: number) =>
    Promise.all(
      organizations.map(({ mails }) =>
        mails.insertMany(
          Array.from({ length: count }, (_, index) => ({
            key: `${kind} ${index}`,
            kind,
            to: 'x@example.com',
            subject: 'S',
            from: 'a@example.com',
            messageId: '<1@a>',
            dueAt: new Date(),
          })),
        ),
      ),
    )
  const count = (kind: string) => begun.filter(each => each === kind).length
  await store('transactional', 20)
  const runtime = { logger: test.context.logger, metrics: createMetrics('messaging') }
  for (const job of [mailJob, accountMailJob]) job.start(runtime)
  try {
    await eventually('no organization gets another slot for messages', () => count('transactional') >= 16)
    await store('account', 2)
    accountMailJob.wake()
    await eventually('account mail goes', () => count('account') === 8)
  } finally {
    opened.resolve()
    await Promise.all([mailJob.stop(), accountMailJob.stop()])
  }
})

it('account mail goes while messages use all connections to its server', async () => {
  const { mails } = test.context.collections.of(test.organizationId)
  const { _id: sender } = await storeSender(test, 'hosted@example.org')
  const opened = Promise.withResolvers<undefined>()
  const under = new Set<string>()
  server.refuse = to => {
    under.add(to)
    return to.startsWith('slow') ? opened.promise : undefined
  }
  const send = async (to: string, about: object) => {
    const draft = { key: to, kind: 'account' as const, to, subject: 'S', text: 'T', from: 'a@example.com' }
    const { _id } = await mails.insertOne({ ...draft, messageId: '<1@a>', attempts: 1, dueAt: new Date(), ...about })
    return sendMail(test.context, (await mails.findOne({ _id }))!)
  }
  const slow = Array.from({ length: CONNECTIONS_EACH }, (_, index) =>
    send(`slow-${index}@example.com`, { kind: 'transactional', sender }),
  )
  try {
    await eventually('all connections are in use', () => under.size === CONNECTIONS_EACH)
    await within(scaledTimeout(10_000), 'the code', () => send('code@example.com', {}))
    await server.mailTo('code@example.com')
  } finally {
    opened.resolve(undefined)
    server.refuse = () => undefined
    await Promise.all(slow)
  }
})

it('a mail that its server rejects is logged without the address that the reply repeats', async () => {
  const { mails } = test.context.collections.of(test.organizationId)
  const to = 'Rejected.Person@example.com'
  server.refuse = () => ({ code: 550, message: `5.1.1 <${to}>: user ${to.toLowerCase()} unknown` })
  const log: string[] = []
  const logger = createLogger({ service: 'messaging', destination: { write: line => void log.push(line) } })
  const draft = { key: to, kind: 'transactional' as const, to, subject: 'S', text: 'T', from: 'a@example.com' }
  const { _id } = await mails.insertOne({ ...draft, messageId: '<1@a>', attempts: 1, dueAt: new Date() })
  await sendMail({ ...test.context, logger }, (await mails.findOne({ _id }))!)
  server.refuse = () => undefined
  assert.equal((await mails.findOne({ _id }))!.status, 'bounced')
  const [line = ''] = log.filter(line => line.includes('mail not sent'))
  assert.equal(JSON.parse(line).reason, '550 5.1.1 <address>: user <address> unknown')
  assert.doesNotMatch(log.join(''), /rejected\.person/i)
})

/** The context, whose database refuses so many transactions. */
function awayFor(count: number, context: Context): Context {
  let left = count
  const transaction: Context['store']['transaction'] = async (...given) => {
    if (left-- > 0) throw new AppError('service.unavailable', {})
    return context.store.transaction(...given)
  }
  return { ...context, store: { ...context.store, transaction } }
}
