import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { AppError, type HttpBody } from '@rollcall/contract'
import type { CampaignRecipientJson, PutMailingRequest, Mailing as Shown } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Call } from '@rollcall/rpc'
import { createMetrics, pause, within } from '@rollcall/runtime'
import { startTestDns } from '@rollcall/testing/dns'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { storeDomain, storeSender } from '../../test/senders.ts'
import type { Context } from '../context.ts'
import { createResolver } from '../dns/resolver.ts'
import type { Domain } from '../domains/domain.model.ts'
import type { Mail } from '../mail/mail.model.ts'
import { takeReport } from '../returns/apply-report.ts'
import type { Report } from '../returns/read-report.ts'
import type { Sender } from '../senders/sender.model.ts'
import { mailings } from './mailings.ts'
import { sendMailing, sendMailingsJob } from './send-mailings.job.ts'

const LIMIT_MS = 20_000
const HOUR_MS = 3_600_000

describe('mailings', () => {
  let server: MailServer
  let test: TestContext
  let context: Context
  let sender: Sender
  const metrics = createMetrics('messaging')
  before(async () => {
    server = await startMailServer()
    test = await testContext({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_RETRY_MS: '50', MAIL_ATTEMPTS: '3' })
    context = { ...test.context }
    context.mailingsJob = sendMailingsJob(context, (mailing, slice) => sendMailing(context, mailing, slice))
    context.mailingsJob.start({ logger: context.logger, metrics })
    await storeDomain(test, 'example.org')
    sender = await storeSender(test, 'news@example.org', { isDefault: true })
  })
  after(async () => {
    await context.mailingsJob.stop()
    await test.stop()
    await server.stop()
  })
  afterEach(() => {
    server.refuse = () => undefined
  })

  const rpc = () => mailings(context)
  const call = (user?: string): Call => test.call(user)
  const tenant = () => context.collections.of(test.organizationId)
  const content = { subject: 'Hello {{ contact.email }}', html: '<p>{{ contact.email }} {{ unsubscribe_url }}</p>' }
  const put = async (fields: Partial<PutMailingRequest> = {}): Promise<string> => {
    const id = String(new Types.ObjectId())
    await rpc().putMailing({ id, ...content, campaignName: 'News', organizationName: 'Org', ...fields }, call())
    return id
  }
  let number = 0
  const contact = (fields: object = {}) => {
    const [id, email] = [String(new Types.ObjectId()), `contact-${number++}@example.com`]
    test.contacts.set(email, { id, email, ...fields })
    return { contactId: id, email }
  }
  const contacts = (count: number) => Array.from({ length: count }, () => contact())
  const queue = async (mailingId: string, recipients: { contactId: string; email: string }[]) =>
    (await rpc().queueRecipients({ mailingId, recipients }, call())).queued
  const get = (id: string): Promise<Shown> => rpc().getMailing({ id }, call()) as Promise<Shown>
  const set = (id: string, state: 'sending' | 'paused' | 'cancelled') =>
    rpc().setMailingState({ id, state }, call()) as Promise<Shown>
  const until = async (id: string, what: string, holds: (mailing: Shown) => boolean): Promise<Shown> => {
    for (const end = Date.now() + scaledTimeout(LIMIT_MS); ; await pause(20)) {
      const mailing = await get(id)
      assertAddsUp(mailing)
      if (holds(mailing)) return mailing
      assert.ok(Date.now() < end, `not ${what}: ${JSON.stringify(mailing)}`)
    }
  }
  const finished = (id: string) => until(id, 'finished', ({ isFinished }) => isFinished)
  /** Sends a mailing to these recipients until it is finished. */
  const send = async (recipients: { contactId: string; email: string }[], fields: Partial<PutMailingRequest> = {}) => {
    const id = await put(fields)
    await queue(id, recipients)
    await rpc().closeMailing({ id }, call())
    await set(id, 'sending')
    return { ...(await finished(id)), id }
  }
  const received = (recipients: { email: string }[]) => {
    const wanted = new Set(recipients.map(({ email }) => email))
    return server.mails.filter(({ to }) => wanted.has(to)).map(({ to }) => to)
  }
  /** Lets the server accept so many mails of these recipients, and then none until it is opened. */
  const closedAfter = (recipients: { email: string }[], count: number) => {
    const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    server.refuse = async (_to, stage) => {
      if (stage !== 'DATA' || received(recipients).length < count) return undefined
      reached.resolve()
      await opened.promise
      return undefined
    }
    return { reached: within(scaledTimeout(LIMIT_MS), `${count} mails`, () => reached.promise), open: opened.resolve }
  }
  const noneInHand = async (id: string, ms: number) => {
    const inHand = () => tenant().mails.count({ campaign: id, status: 'queued' })
    for (const end = Date.now() + scaledTimeout(ms); (await inHand()) > 0; await pause(10))
      assert.ok(Date.now() < end, `still sending after ${ms} ms`)
  }
  const bodiesOf = async (answer: unknown): Promise<string> => {
    const streamed = (await answer) as AsyncIterable<HttpBody> | HttpBody
    let text = ''
    if (Symbol.asyncIterator in streamed) for await (const { data } of streamed) text += data
    else text = String(streamed.data)
    return text
  }
  const recipientsOf = async (id: string, list: object = {}) =>
    JSON.parse(await bodiesOf(rpc().listRecipients({ id, list }, call()))).docs as CampaignRecipientJson[]

  it('send each contact one mail, however often it is queued, with links to unsubscribe', async () => {
    const recipients = contacts(120)
    const id = await put()
    assert.equal(await queue(id, [...recipients, ...recipients.slice(0, 5)]), 120)
    assert.equal(await queue(id, recipients), 0)
    assert.equal((await get(id)).state, 'prepared')
    await set(id, 'sending')
    const more = contact()
    await until(id, 'sent', ({ counts }) => counts!.sent === 120)
    assert.equal((await get(id)).isFinished, false, 'more may come')
    assert.equal(await queue(id, [more]), 1)
    await rpc().closeMailing({ id }, call())
    const { counts } = await finished(id)
    assert.deepEqual([counts!.recipients, counts!.sent, counts!.waiting], [121, 121, 0])
    assert.deepEqual(received([...recipients, more]).sort(), [...recipients, more].map(({ email }) => email).sort())
    const raw = (await server.mailTo(more.email)).raw.toString()
    assert.match(raw, new RegExp(`^Subject: Hello ${more.email}\\r$`, 'm'))
    assert.match(raw, /^List-Unsubscribe:\s+<http:\/\/localhost:8080\/u\/[\w-]+>\r$/m)
    assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
    const mail = (await tenant().mails.findOne({ campaign: id, to: more.email }))!
    const types = (await test.eventsOf(String(mail._id))).map(({ type, data }) => [type, data.campaignId, data.subject])
    assert.deepEqual(types[0], ['email.queued', id, content.subject])
    assert.deepEqual(types[1], ['email.sent', id, `Hello ${more.email}`])
    assert.deepEqual(
      mail.steps.map(({ type }) => type),
      ['queued', 'sent'],
    )
  })

  it('suppress who is blocked, unsubscribed or suppressed when their turn comes', async () => {
    const [fine, blocked, out, gone, bad] = [
      contact(),
      contact({ blocked: true }),
      contact({ unsubscribed: true }),
      contact(),
      contact(),
    ]
    test.contacts.delete(gone.email)
    await tenant().suppressions.insertOne({
      email: bad.email,
      emailKey: bad.email,
      kind: 'manual',
      reason: 'asked',
      firstAt: new Date(),
      lastAt: new Date(),
    })
    const { id, counts } = await send([fine, blocked, out, gone, bad])
    assert.deepEqual(counts!.suppressed, { blocked: 1, unsubscribed: 1, address: 1 })
    assert.deepEqual([counts!.sent, counts!.failed], [1, 1])
    assert.deepEqual(received([blocked, out, gone, bad]), [])
    const shown = await recipientsOf(id, { sort: '{"email":1}' })
    assert.deepEqual(
      shown.map(({ contact, email, status, error }) => [contact, email, status, error]),
      [
        [fine.contactId, fine.email, 'sent', null],
        [blocked.contactId, blocked.email, 'suppressed', 'the contact is blocked'],
        [out.contactId, out.email, 'suppressed', 'the contact has unsubscribed'],
        [gone.contactId, gone.email, 'failed', 'the contact no longer exists'],
        [bad.contactId, bad.email, 'suppressed', 'the address is suppressed (manual): asked'],
      ],
    )
    const csv = await bodiesOf(rpc().exportRecipients({ id }, call()))
    assert.equal(csv.trim().split('\r\n').length, 6)
    assert.ok(csv.includes(`${fine.email},${fine.contactId},sent,`))
    const { points } = await rpc().seriesOf({ id, interval: 'day' }, call())
    assert.deepEqual(
      points!.map(({ sent }) => sent),
      [1],
    )
  })

  it('count what servers refuse as failed and bounced, try again what they delay, and suppress bad addresses', async () => {
    const [refused, delayed, never] = contacts(3)
    let tries = 0
    server.refuse = to => {
      if (to === refused!.email) return { code: 550, message: '5.1.1 no such user' }
      if (to === never!.email) return { code: 451, message: 'come back' }
      return to === delayed!.email && tries++ === 0 ? { code: 450, message: 'greylisted' } : undefined
    }
    const { id, counts } = await send([refused!, delayed!, never!])
    assert.deepEqual([counts!.sent, counts!.failed, counts!.bounced], [1, 2, 1])
    assert.equal(server.asked.filter(to => to === never!.email).length, 3)
    assert.ok(await tenant().suppressions.findOne({ emailKey: refused!.email }))
    assert.equal((await rpc().retryFailed({ id }, call())).count, 1, 'not the one that bounced')
    server.refuse = () => undefined
    const again = await finished(id)
    assert.deepEqual([again.counts!.sent, again.counts!.failed], [2, 1])
    assert.deepEqual(received([never!]), [never!.email])
    assert.equal((await rpc().retryFailed({ id }, call())).count, 0)
  })

  it('pause within two seconds, resume, and cancel, with none sent twice', async () => {
    const recipients = contacts(150)
    let gate = closedAfter(recipients, 15)
    const id = await put()
    await queue(id, recipients)
    await rpc().closeMailing({ id }, call())
    await set(id, 'sending')
    await gate.reached
    assert.equal((await set(id, 'paused')).state, 'paused')
    gate.open()
    await noneInHand(id, 2000)
    const count = received(recipients).length
    assert.equal((await get(id)).counts!.sent, count)
    assert.ok(count < 150, `${count} were sent`)
    gate = closedAfter(recipients, count + 15)
    await set(id, 'sending')
    await gate.reached
    assert.equal((await set(id, 'cancelled')).state, 'cancelled')
    gate.open()
    await noneInHand(id, 2000)
    const { counts, state, isFinished } = await get(id)
    assert.deepEqual([state, isFinished], ['cancelled', false])
    assert.equal(counts!.sent, received(recipients).length)
    assert.equal(new Set(received(recipients)).size, received(recipients).length)
    assert.ok(counts!.waiting > 0)
    await assert.rejects(set(id, 'sending'), { code: 'mailing.cancelled' })
    await assert.rejects(rpc().retryFailed({ id }, call()) as Promise<unknown>, { code: 'mailing.cancelled' })
  })

  /** Begins a mailing to a contact, whose server is ready for the text only once the check of the contact is out of date. */
  const sendLate = async (to: { contactId: string; email: string }) => {
    const [asked, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let heldUntil = 0
    const { holdRecipients } = context
    context.holdRecipients = async (organizationId, recipients, options) => {
      if (recipients.some(({ contactId }) => contactId === to.contactId)) heldUntil = Date.now() + options.ms
      return holdRecipients(organizationId, recipients, options)
    }
    server.refuse = async email => {
      if (email !== to.email) return undefined
      asked.resolve()
      await opened.promise
      return undefined
    }
    const id = await put()
    await queue(id, [to])
    await rpc().closeMailing({ id }, call())
    await set(id, 'sending')
    await within(scaledTimeout(LIMIT_MS), 'the hand-over', () => asked.promise)
    await pause(heldUntil - Date.now() + 1)
    context.holdRecipients = holdRecipients
    return { id, open: opened.resolve }
  }

  it('do not go to a contact who unsubscribed while they waited for their server', async () => {
    const out = contact()
    const { id, open } = await sendLate(out)
    test.contacts.set(out.email, { id: out.contactId, email: out.email, unsubscribed: true })
    open()
    const { counts } = await finished(id)
    assert.deepEqual([counts!.sent, counts!.failed, counts!.suppressed!.unsubscribed], [0, 0, 1])
    assert.deepEqual(received([out]), [])
  })

  it('keep a recipient waiting if they were paused while its mail waited for its server', async () => {
    const to = contact()
    const { id, open } = await sendLate(to)
    await set(id, 'paused')
    open()
    await noneInHand(id, LIMIT_MS)
    const { counts } = await get(id)
    assert.deepEqual([counts!.waiting, counts!.failed, received([to])], [1, 0, []])
    await set(id, 'sending')
    assert.equal((await finished(id)).counts!.sent, 1)
  })

  it('keep a recipient waiting whose server does not have the text when the process stops', async () => {
    const [to, asked, opened] = [contact(), Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    server.refuse = () => {
      asked.resolve()
      return opened.promise
    }
    const id = await put()
    await queue(id, [to])
    const state = { state: 'sending' as const, isReleased: true } // so that the job that runs leaves it alone
    await tenant().mailings.updateOne({ _id: id }, { $set: state })
    const stopping = new AbortController()
    const slice = { signal: stopping.signal, fence: async () => {} }
    const stopped = sendMailing(context, (await tenant().mailings.findOne({ _id: id }))!, slice)
    try {
      await within(scaledTimeout(LIMIT_MS), 'the hand-over', () => asked.promise)
      stopping.abort(new Error('the service stops'))
      await within(scaledTimeout(LIMIT_MS), 'the stop', () => stopped)
    } finally {
      opened.resolve(undefined)
    }
    const { status, failures } = (await tenant().mails.findOne({ campaign: id }))!
    assert.deepEqual([status, failures, received([to])], ['waiting', 0, []])
  })

  it('go to a contact who may get them, however late their server is ready', async () => {
    const to = contact()
    const { id, open } = await sendLate(to)
    open()
    assert.equal((await finished(id)).counts!.sent, 1)
    assert.equal(server.asked.filter(email => email === to.email).length, 1)
  })

  it('pause by themselves if the sender cannot send, and keep the recipient waiting', async () => {
    const recipients = contacts(3)
    const gone = await storeSender(test, 'gone@example.org')
    const id = await put({ senderId: String(gone._id) })
    await queue(id, recipients)
    await tenant().senders.deleteOne({ _id: gone._id })
    await set(id, 'sending')
    const { pausedReason, counts } = await until(id, 'paused', ({ state }) => state === 'paused')
    assert.equal(pausedReason, 'the sender no longer exists')
    assert.equal(counts!.waiting, 3)
    const smtp = { host: '127.0.0.1', port: 25, secure: false, username: null } // private hosts are not allowed
    const wrong = await storeSender(test, 'wrong@example.org', { delivery: 'smtp', smtp })
    const other = await put({ senderId: String(wrong._id) })
    await queue(other, recipients)
    await set(other, 'sending')
    const paused = await until(other, 'paused', ({ state }) => state === 'paused')
    assert.match(paused.pausedReason!, /^host: /)
    assert.equal(paused.counts!.waiting, 3)
    assert.equal((await set(other, 'sending')).pausedReason, undefined)
    assert.deepEqual(received(recipients), [])
  })

  it('fail recipients whose domains name no server that may be used, and do not pause', async () => {
    const recipients = contacts(2)
    const provided = await storeSender(test, 'provided@example.org', { delivery: 'provider' })
    const dns = await startTestDns()
    dns.zone('example.com', ['127.0.0.1'], [{ name: 'example.com', type: 'A', data: '10.0.0.1' }])
    const { config, lookups } = context
    context.config = { ...config, SMTP_URL: undefined }
    context.lookups = createResolver({ servers: [dns.resolver], only: true })
    try {
      const { counts } = await send(recipients, { senderId: String(provided._id) })
      assert.deepEqual([counts!.failed, counts!.bounced], [2, 0])
    } finally {
      Object.assign(context, { config, lookups })
      await dns.stop()
    }
  })

  it('go on with other domains while the servers of one do not answer', async () => {
    const provided = await storeSender(test, 'direct@example.org', { delivery: 'provider' })
    const dns = await startTestDns()
    const mx = (name: string, exchange: string) => ({ name, type: 'MX', data: { exchange, preference: 10 } }) as const
    const records = [mx('down.example.com', 'mx.example.com'), mx('none.example.com', '.')]
    dns.zone('example.com', ['127.0.0.1'], [...records, { name: 'mx.example.com', type: 'A', data: '127.9.9.9' }])
    const { config, lookups, addressPolicy } = context
    context.config = { ...config, SMTP_URL: undefined, MAIL_RETRY_MS: 3_600_000 }
    context.lookups = createResolver({ servers: [dns.resolver], only: true })
    context.addressPolicy = { allowPrivate: true }
    const at = (domain: string) => {
      const [id, email] = [String(new Types.ObjectId()), `contact-${number++}@${domain}`]
      test.contacts.set(email, { id, email })
      return { contactId: id, email }
    }
    try {
      const id = await put({ senderId: String(provided._id) })
      await queue(id, [...Array.from({ length: 30 }, () => at('down.example.com')), at('none.example.com')])
      await set(id, 'sending')
      const { counts } = await until(id, 'at the other domain', ({ counts }) => counts!.bounced === 1)
      assert.equal(counts!.waiting, 30)
      await set(id, 'cancelled')
    } finally {
      Object.assign(context, { config, lookups, addressPolicy })
      await dns.stop()
    }
  })

  it('fail what a crash interrupted, as unknown, and do not send it again unless asked', async () => {
    const [interrupted, next] = contacts(2)
    const id = await put()
    await queue(id, [interrupted!, next!])
    await tenant().mails.updateOne({ campaign: id, to: interrupted!.email }, { $set: { status: 'queued' } })
    await rpc().closeMailing({ id }, call())
    await set(id, 'sending')
    const { counts } = await finished(id)
    assert.deepEqual([counts!.sent, counts!.failed], [1, 1])
    assert.deepEqual(received([interrupted!, next!]), [next!.email])
    const [failed] = await recipientsOf(id, { filter: '{"status":"failed"}' })
    assert.deepEqual([failed!.email, failed!.error], [interrupted!.email, 'unknown whether it was handed over'])
    await rpc().retryFailed({ id }, call())
    await finished(id)
    assert.deepEqual(received([interrupted!]), [interrupted!.email])
  })

  it('fail what a crash interrupted also if they were cancelled since', async () => {
    const [interrupted, waiting] = contacts(2)
    const id = await put()
    await queue(id, [interrupted!, waiting!])
    await tenant().mails.updateOne({ campaign: id, to: interrupted!.email }, { $set: { status: 'queued' } })
    await set(id, 'cancelled')
    const { counts } = await until(id, 'settled', ({ counts }) => counts!.failed === 1)
    assert.equal(counts!.waiting, 1)
    assert.deepEqual(received([interrupted!, waiting!]), [])
  })

  it('fail a mail whose server was lost after it got the text, because it may have accepted it', async () => {
    const [lost] = contacts(1)
    server.refuse = async (to, stage) => {
      if (to === lost!.email && stage === 'DATA') server.disconnect()
      return undefined
    }
    const { id, counts } = await send([lost!])
    assert.equal(counts!.failed, 1)
    const [failed] = await recipientsOf(id)
    assert.match(failed!.error!, /^unknown whether it was handed over: /)
    assert.equal(server.asked.filter(to => to === lost!.email).length, 1)
  })

  it('count as sent, and do not send again, what is known to have arrived after its server was lost', async () => {
    const recipients = contacts(2)
    server.refuse = (_to, stage) => (stage === 'DATA' ? 'disconnect' : undefined)
    const { id } = await send(recipients)
    server.refuse = () => undefined
    const [arrived, returned] = await tenant().mails.find({ campaign: id })
    const take = ({ _id }: Mail, report: Pick<Report, 'kind' | 'detail'>) => {
      const message = { organizationId: test.organizationId, messageId: String(_id) }
      return takeReport(context, message, { ...report, isBadAddress: false })
    }
    await take(arrived!, { kind: 'delivered', detail: '250 ok' })
    await take(returned!, { kind: 'bounced', detail: '552 full' })
    const { counts } = await get(id)
    assert.deepEqual([counts!.sent, counts!.failed, counts!.delivered, counts!.bounced], [2, 0, 1, 1])
    assert.equal((await rpc().retryFailed({ id }, call())).count, 0)
    const stored = await tenant().mails.find({ campaign: id })
    assert.deepEqual(
      stored.map(({ status, error, sentAt }) => [status, error, sentAt]),
      [
        ['delivered', null, arrived!.finishedAt],
        ['bounced', '552 full', returned!.finishedAt],
      ],
    )
    const { points } = await rpc().seriesOf({ id, interval: 'day' }, call())
    assert.equal(points![0]!.sent, 2)
    assert.deepEqual(received(recipients), [])
  })

  it('show when a recipient reached its status, whatever follows', async () => {
    const [reader] = contacts(1)
    const { id } = await send([reader!])
    const mail = (await tenant().mails.findOne({ campaign: id }))!
    const report = (kind: Report['kind']) =>
      takeReport(
        context,
        { organizationId: test.organizationId, messageId: String(mail._id) },
        { kind, detail: kind, isBadAddress: false },
      )
    await report('complained')
    const at = '2020-01-01T00:00:00.000Z'
    assert.notEqual((await recipientsOf(id))[0]!.at, at)
    await tenant().mails.updateOne({ _id: mail._id }, { $set: { updatedAt: new Date(at) } }, { timestamps: false })
    await report('delivered')
    await test.erase(reader!)
    const [shown] = await recipientsOf(id)
    assert.deepEqual([shown!.email, shown!.status, shown!.at], ['[erased]', 'complained', at])
  })

  it('let the others wait while a server is lost with every mail', async () => {
    const { config } = context
    context.config = { ...config, MAIL_RETRY_MS: 3_600_000 }
    try {
      server.refuse = (_to, stage) => (stage === 'DATA' ? 'disconnect' : undefined)
      const id = await put()
      await queue(id, contacts(150))
      await set(id, 'sending')
      await until(id, 'stopped', ({ counts }) => counts!.failed > 0)
      await noneInHand(id, LIMIT_MS)
      const { counts } = await set(id, 'cancelled')
      assert.ok(counts!.waiting >= 100, JSON.stringify(counts))
    } finally {
      context.config = config
    }
  })

  it('do not record the address of a person who is erased while the server answers', async () => {
    const [gone, bad, other] = contacts(3)
    const [asked, erased] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const underWay = new Set<string>()
    server.refuse = async (to, stage) => {
      if (stage !== 'DATA') return undefined
      if (underWay.add(to).size === 3) asked.resolve()
      await erased.promise
      return to === bad!.email ? { code: 550, message: `5.1.1 no ${to}` } : undefined
    }
    const id = await put()
    await queue(id, [gone!, bad!, other!])
    await rpc().closeMailing({ id }, call())
    await set(id, 'sending')
    await within(scaledTimeout(LIMIT_MS), 'the mails to be under way', () => asked.promise)
    for (const each of [gone!, bad!]) await test.erase(each)
    erased.resolve()
    const { counts } = await finished(id)
    assert.deepEqual([counts!.sent, counts!.failed, counts!.bounced], [2, 1, 1])
    const mails = await tenant().mails.find({ campaign: id }, { sort: { _id: 1 } })
    assert.deepEqual(
      mails.map(({ to, subject, error, status }) => [to, subject, error, status]),
      [
        ['[erased]', '[erased]', null, 'sent'],
        ['[erased]', '[erased]', null, 'bounced'],
        [other!.email, `Hello ${other!.email}`, null, 'sent'],
      ],
    )
    const events = await Promise.all(mails.map(({ _id }) => test.eventsOf(String(_id))))
    const kept = JSON.stringify([mails, events, await tenant().suppressions.find({})])
    assert.deepEqual([kept.includes(gone!.email), kept.includes(bad!.email)], [false, false])
    assert.deepEqual(received([gone!, other!]), [gone!.email, other!.email])
  })

  it('count an outcome once, also if the answer to its commit was lost', async () => {
    const recipients = contacts(1)
    const { store } = context
    const repeated = Promise.withResolvers<void>()
    let isLost = false
    context.store = {
      ...store,
      async transaction(work, options) {
        const result = await store.transaction(work, options)
        if (isLost) repeated.resolve()
        else if (received(recipients).length > 0) {
          isLost = true
          throw new AppError('service.unavailable')
        }
        return result
      },
    }
    try {
      const { id } = await send(recipients)
      await within(scaledTimeout(LIMIT_MS), 'the repetition', () => repeated.promise)
      assert.equal((await finished(id)).counts!.sent, 1)
      const mail = (await tenant().mails.findOne({ campaign: id }))!
      const types = (await test.eventsOf(String(mail._id))).map(({ type }) => type)
      assert.deepEqual(types, ['email.queued', 'email.sent'])
    } finally {
      context.store = store
    }
  })

  /** Changes the state beside a transaction that writes both mails, one before the job meets it and one after. */
  const setBesideTransaction = async (id: string, state: 'sending' | 'cancelled') => {
    const { store } = context
    const [first, second] = await tenant().mails.find({ campaign: id }, { sort: { _id: 1 } })
    const met = Promise.withResolvers<void>()
    context.store = {
      ...store,
      transaction(work, options) {
        let attempts = 0
        const counted: typeof work = tx => {
          if (++attempts === 2) met.resolve()
          return work(tx)
        }
        return store.transaction(counted, options)
      },
    }
    try {
      await store.transaction(async tx => {
        const { mails } = context.collections.of(test.organizationId, tx)
        await mails.updateOne({ _id: first!._id }, { $set: { opens: 1 } })
        await set(id, state)
        await within(scaledTimeout(LIMIT_MS), 'the job to meet it', () => met.promise)
        await mails.updateOne({ _id: second!._id }, { $set: { opens: 1 } })
      })
    } finally {
      context.store = store
    }
  }

  it('are sent after a transaction that writes their mails', async () => {
    const recipients = contacts(2)
    const id = await put()
    await queue(id, recipients)
    await rpc().closeMailing({ id }, call())
    await setBesideTransaction(id, 'sending')
    assert.equal((await finished(id)).counts!.sent, 2)
    assert.equal(await tenant().mails.count({ campaign: id, opens: 1 }), 2)
  })

  it('let the recipients that they left waiting expire, after a transaction that writes their mails', async () => {
    const id = await put()
    await queue(id, contacts(2))
    await setBesideTransaction(id, 'cancelled')
    const expiring = { campaign: id, status: 'waiting', opens: 1, finishedAt: { $type: 'date' } }
    await eventually('both to expire', async () => (await tenant().mails.count(expiring)) === 2)
  })

  it('take no recipients once they were cancelled', async () => {
    const id = await put()
    assert.equal(await queue(id, contacts(2)), 2)
    await set(id, 'cancelled')
    const released = { _id: id, isReleased: true }
    await eventually('those who wait to be released', async () => (await tenant().mailings.count(released)) === 1)
    assert.equal(await queue(id, contacts(2)), 0)
    assert.equal((await get(id)).counts!.recipients, 2)
    assert.equal(await tenant().mails.count({ campaign: id }), 2)
    assert.equal(await tenant().mails.count({ campaign: id, status: 'waiting', finishedAt: null }), 0)
  })

  it('fail a recipient whose mail cannot be rendered', async () => {
    const { id, counts } = await send(contacts(1), { html: '{% for i in (1..100000000) %}x{% endfor %}' })
    assert.equal(counts!.failed, 1)
    assert.match((await recipientsOf(id))[0]!.error!, /^html: /)
  })

  it('keep to their rate', async () => {
    const recipients = contacts(4)
    const startedAt = Date.now()
    await send(recipients, { ratePerMinute: 150 })
    assert.ok(Date.now() - startedAt >= 3 * 400, 'four mails, 400 ms apart')
  })

  it('are late while a mail that is due does not go, and not while all wait for another attempt', async () => {
    const { mails, mailings: stored } = tenant()
    const oldestSeconds = async () => {
      const { values } = await metrics.registry.getSingleMetric('rollcall_job_oldest_waiting_seconds')!.get()
      return values[0]!.value
    }
    /** Begins a mailing of one mail that made no progress for an hour. */
    const begin = async (to: { contactId: string; email: string }, nextTryAt: Date) => {
      const id = await put()
      await queue(id, [to])
      await rpc().closeMailing({ id }, call())
      await mails.updateOne({ campaign: id }, { $set: { nextTryAt } })
      const sending = { state: 'sending' as const, updatedAt: new Date(Date.now() - HOUR_MS) }
      await stored.updateOne({ _id: id }, { $set: sending }, { timestamps: false })
      return id
    }
    const to = contact()
    const { reached, open } = closedAfter([to], 0)
    const due = await begin(to, new Date())
    await reached
    await eventually('the due mail is late', async () => (await oldestSeconds()) > 3000)
    open()
    await finished(due)
    const waiting = await begin(contact(), new Date(Date.now() + HOUR_MS))
    await eventually('the job has looked at it', async () => (await stored.findOne({ _id: waiting }))!.idleAt !== null)
    await eventually('none is late', async () => (await oldestSeconds()) < 300)
    await set(waiting, 'cancelled')
  })

  it('keep their sender and content once they have begun, whatever the default sender is and can do by then', async () => {
    const { mailings: stored, domains } = tenant()
    const former = await storeSender(test, 'former@example.org')
    const id = await put({ senderId: String(former._id) })
    await set(id, 'sending')
    const change = async (ratePerMinute: number) => {
      await put({ id, subject: 'Other', ratePerMinute })
      const kept = (await stored.findOne({ _id: id }))!
      assert.deepEqual([kept.sender, kept.subject, kept.ratePerMinute], [former._id, content.subject, ratePerMinute])
    }
    const setDomain = (status: Domain['status']) =>
      domains.updateOne({ domain: 'example.org' }, { $set: { status, verified: status === 'verified' } })
    await setDomain('degraded')
    try {
      await change(7)
    } finally {
      await setDomain('verified')
    }
    await change(8)
  })

  /** Runs an action while a mailing is put, between the checks and the write. */
  const whileItIsPut = async (fields: Partial<PutMailingRequest>, act: () => Promise<unknown>) => {
    const { requireVerified } = context
    let isFirst = true
    context.requireVerified = async () => {
      if (isFirst) {
        isFirst = false
        await act()
      }
    }
    try {
      await put(fields)
    } finally {
      context.requireVerified = requireVerified
    }
  }

  it('keep their content if they begin while it is checked', async () => {
    const id = await put()
    await whileItIsPut({ id, subject: 'Other', ratePerMinute: 5 }, () => set(id, 'sending'))
    const { subject, ratePerMinute } = (await tenant().mailings.findOne({ _id: id }))!
    assert.deepEqual([subject, ratePerMinute], [content.subject, 5])
  })

  it('are of the newest revision, whichever arrives last', async () => {
    const id = String(new Types.ObjectId())
    const stored = async () => {
      const { subject, ratePerMinute } = (await tenant().mailings.findOne({ _id: id }))!
      return [subject, ratePerMinute]
    }
    await whileItIsPut({ id, subject: 'First', revision: 1 }, () => put({ id, subject: 'Second', revision: 2 }))
    assert.deepEqual(await stored(), ['Second', null])
    await put({ id, subject: 'First', revision: 1 })
    assert.deepEqual(await stored(), ['Second', null])
    await put({ id, subject: 'Third', revision: 3 })
    await put({ id, subject: 'Third', revision: 3 })
    assert.deepEqual(await stored(), ['Third', null])
    await set(id, 'sending')
    await put({ id, ratePerMinute: 5, revision: 5 })
    await put({ id, ratePerMinute: 4, revision: 4 })
    assert.deepEqual(await stored(), ['Third', 5])
  })

  it('are what arrives last, where a campaigns service of a former release names no revision', async () => {
    const id = await put({ subject: 'First', revision: 1 })
    const stored = async () => (await tenant().mailings.findOne({ _id: id }))!
    await put({ id, subject: 'Other' })
    assert.equal((await stored()).subject, 'Other')
    await set(id, 'sending')
    await put({ id, ratePerMinute: 4 })
    assert.equal((await stored()).ratePerMinute, 4)
    const former = await put({ subject: 'Other' })
    await tenant().mailings.updateOne({ _id: former }, { $unset: { revision: 1 } })
    await put({ id: former, subject: 'Newer', revision: 1 })
    assert.equal((await tenant().mailings.findOne({ _id: former }))!.subject, 'Newer')
  })

  it('have a sender that the user may use for whom a service asks', async () => {
    const [owner, other, stranger] = [new Types.ObjectId(), new Types.ObjectId(), new Types.ObjectId()]
    const shared = await storeSender(test, 'shared@example.org', { owner, sharedWith: [other] })
    const senderId = String(shared._id)
    const check = async (user?: Types.ObjectId) =>
      rpc().checkSender({ senderId, ...(user && { userId: String(user) }) }, call())
    const unknown = { code: 'sender.unknown', details: { path: 'sender' } }
    for (const user of [undefined, owner, other]) assert.equal((await check(user)).id, senderId)
    await assert.rejects(check(stranger), unknown)
    await assert.rejects(put({ senderId, userId: String(stranger) }), unknown)
    await tenant().senders.updateOne({ _id: shared._id }, { $set: { sharedWith: [] } })
    await assert.rejects(check(other), unknown)
    const byStranger = rpc().checkSender({ senderId, userId: String(owner) }, call(String(stranger)))
    await assert.rejects(byStranger as Promise<unknown>, unknown)
    assert.equal((await rpc().checkSender({ userId: String(stranger) }, call())).id, String(sender._id))
  })

  it('have a sender that the caller may use', async () => {
    const user = String(sender.owner)
    const { id } = (await rpc().checkSender({}, call())) as { id: string }
    assert.equal(id, String(sender._id))
    const mine = await storeSender(test, 'mine@example.org', { owner: new Types.ObjectId(user) })
    const asked = { senderId: String(mine._id) }
    assert.deepEqual(await rpc().checkSender(asked, call(user)), {
      id: asked.senderId,
      name: 'Sender One',
      email: 'mine@example.org',
    })
    const stranger = call(String(new Types.ObjectId()))
    await assert.rejects(rpc().checkSender(asked, stranger) as Promise<unknown>, {
      code: 'sender.unknown',
      details: { path: 'sender' },
    })
    const unsafe = { ...context, config: { ...context.config, PUBLIC_URL: 'http://rollcall.example.com' } }
    await assert.rejects(mailings(unsafe).checkSender({}, call()) as Promise<unknown>, { code: 'mailing.unsafe_links' })
  })

  it('have tests, which are messages of kind test and reach no blocked contact', async () => {
    const blocked = contact({ blocked: true })
    const tested = {
      subject: 'Hello {{ contact.name }}',
      html: '{{ unsubscribe_url }}',
      variables: { contact: { name: 'Ada' } },
    }
    await rpc().sendTest({ to: ['reader@example.com'], ...tested }, call())
    const stored = await tenant().mails.findOne({ to: 'reader@example.com' })
    assert.deepEqual([stored?.kind, stored?.status, stored?.subject], ['test', 'queued', 'Hello Ada'])
    assert.match(stored!.html!, /\/u\/[\w-]/)
    const refused = rpc().sendTest({ to: ['reader@example.com', blocked.email], ...tested }, call())
    await assert.rejects(refused as Promise<unknown>, { code: 'contact.blocked' })
    assert.equal(await tenant().mails.count({ to: { $in: ['reader@example.com', blocked.email] } }), 1)
  })
})

function assertAddsUp({ counts }: Shown): void {
  const { recipients, sent, failed, waiting, suppressed } = counts!
  const { blocked, unsubscribed, address } = suppressed!
  assert.equal(sent + failed + waiting + blocked + unsubscribed + address, recipients, JSON.stringify(counts))
}
