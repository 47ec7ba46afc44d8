import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError, type HttpBody } from '@rollcall/contract'
import type { MessageJson, SendMessageRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { storeDomain, storeSender } from '../../test/senders.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mail as mailHandlers } from '../mail/mail.ts'
import { sendMail } from '../mail/send-mail.job.ts'
import { sendTestMail } from '../senders/send-test-mail.ts'
import type { Sender } from '../senders/sender.model.ts'
import { suppress } from '../suppressions/suppress.ts'
import { messages } from './messages.ts'

const MAX_WAITING = 8
const HOUR_MS = 3_600_000

describe('messages', () => {
  let server: MailServer
  let test: TestContext
  let sender: Sender
  let owner: string
  before(async () => {
    server = await startMailServer()
    const settings = {
      MESSAGES_WAITING_PER_ORGANIZATION: String(MAX_WAITING),
      MAIL_PER_MINUTE: '3',
      MAIL_ATTEMPTS: '2',
    }
    test = await testContext({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, ...settings })
    await storeDomain(test, 'example.org')
    sender = await storeSender(test, 'news@example.org', { isDefault: true, replyTo: 'answers@example.org' })
    owner = String(sender.owner)
  })
  after(async () => {
    await test.stop()
    await server.stop()
  })

  const read = <T = MessageJson>({ data }: HttpBody) => JSON.parse(data.toString()) as T
  type Fields = { [K in keyof SendMessageRequest]?: SendMessageRequest[K] | undefined }
  const request = (fields: Fields = {}) =>
    ({ to: 'contact@example.com', subject: 'Subject', text: 'The text.', ...fields }) as SendMessageRequest
  const send = async (fields: Fields = {}, user = owner) =>
    read(await messages(test.context).sendMessage(request(fields), test.call(user)))
  const get = async (id: string) => read(await messages(test.context).getMessage({ id }, test.call()))
  const cancel = async (id: string) => read(await messages(test.context).cancelMessage({ id }, test.call()))
  const mails = () => test.context.collections.of(test.organizationId).mails
  const stored = async (id: string): Promise<Mail> => (await mails().findOne({ _id: id }))!
  /** Does what the job does with a claimed mail. Quotas begin anew. */
  const run = async (id: string) => {
    await test.context.collections.of(test.organizationId).sendingQuotas.deleteMany({})
    return sendMail(test.context, await stored(id))
  }
  const listMessages = async (): Promise<MessageJson[]> => {
    const answer = await messages(test.context).listMessages({ list: {} }, test.call())
    const pages: HttpBody[] = []
    if (Symbol.asyncIterator in answer) for await (const page of answer) pages.push(page)
    else pages.push(answer)
    return pages.flatMap(page => read<{ docs: MessageJson[] }>(page).docs)
  }
  const typesOf = async (id: string) => (await test.eventsOf(id)).map(({ type }) => type)
  const contact = (email: string, fields: object = {}) => {
    const id = String(new Types.ObjectId())
    test.contacts.set(email, { id, email, ...fields })
    return id
  }
  /** So that they do not count as waiting in other tests. */
  const forgetWaiting = () => mails().deleteMany({ status: 'queued' })
  const in1h = () => new Date(Date.now() + HOUR_MS).toISOString()

  it('go from the default sender to an address, with their headers, and say what happened', async () => {
    const to = 'one@example.com'
    const fields = { to, html: '<p>Hello</p>', headers: { 'X-Order': '4711' }, replyTo: 'orders@example.org' }
    const message = await send(fields, String(new Types.ObjectId()))
    assert.deepEqual([message.status, message.kind, message.contact], ['queued', 'transactional', null])
    assert.deepEqual([message.from, message.sender], ['news@example.org', String(sender._id)])
    assert.equal(await run(message.id), 'done')
    const raw = (await server.mailTo(to)).raw.toString()
    assert.match(raw, /^X-Order: 4711\r$/m)
    assert.match(raw, /^Reply-To: orders@example\.org\r$/m)
    assert.ok(raw.includes('<p>Hello</p>') && raw.includes('The text.'))
    const { status, sentAt, error, events } = await get(message.id)
    assert.deepEqual([status, sentAt !== null, error], ['sent', true, null])
    assert.deepEqual(
      events.map(({ type }) => type),
      ['queued', 'sent'],
    )
    assert.match(events[1]!.detail!, /^250 /)
    assert.deepEqual(await typesOf(message.id), ['email.queued', 'email.sent'])
    const { text, html } = await stored(message.id)
    assert.deepEqual([text, html], [null, null])
  })

  it('go to the address that a contact has when they are sent, and to no contact that is unknown or blocked', async () => {
    const contactId = contact('two@example.com')
    const message = await send({ to: { contactId } })
    assert.deepEqual([message.to, message.contact], ['two@example.com', contactId])
    test.contacts.set('two@example.com', { id: contactId, email: 'moved@example.com' })
    await run(message.id)
    assert.match((await server.mailTo('moved@example.com')).raw.toString(), /^Reply-To: answers@example\.org\r$/m)
    assert.equal((await get(message.id)).to, 'moved@example.com')
    await assert.rejects(send({ to: { contactId: String(new Types.ObjectId()) } }), { code: 'contact.not_found' })
    const blocked = contact('blocked@example.com', { blocked: true })
    await assert.rejects(send({ to: { contactId: blocked } }), { code: 'contact.blocked' })
    await assert.rejects(send({ to: 'blocked@example.com' }), { code: 'contact.blocked' })
    const out = await send({ to: { contactId: contact('out@example.com', { unsubscribed: true }) } })
    await run(out.id)
    assert.equal((await get(out.id)).status, 'sent', 'who has unsubscribed gets no campaigns only')
  })

  it('of an organization that may not mail everybody do not follow a contact to an address it may not mail', async () => {
    const contactId = contact('owner@example.com')
    const [same, moved] = [await send({ to: { contactId } }), await send({ to: { contactId } })]
    const { requireMailReach } = test.context
    test.context.requireMailReach = async (organization, email) => {
      if (email.toLowerCase() !== 'owner@example.com') throw new AppError('organization.unverified')
      return requireMailReach(organization, email)
    }
    try {
      test.contacts.set('owner@example.com', { id: contactId, email: 'Owner@example.com' })
      await run(same.id)
      test.contacts.set('owner@example.com', { id: contactId, email: 'victim@example.com' })
      await run(moved.id)
    } finally {
      test.context.requireMailReach = requireMailReach
    }
    assert.equal((await get(same.id)).status, 'sent')
    const { status, to, error } = await get(moved.id)
    assert.deepEqual([status, to], ['failed', 'owner@example.com'])
    assert.match(error!, /can only send mail to its owner/)
    assert.ok(!server.asked.includes('victim@example.com'))
  })

  it('are Liquid if they come with data, and go out as they are otherwise', async () => {
    const fields = {
      to: 'liquid@example.com',
      subject: 'Order {{ data.number }}',
      html: '<p>{{ data.item }} for {{ contact.email }} of {{ organization.name }} by {{ sender.name }}</p>',
      text: undefined,
    }
    const { id, subject } = await send({ ...fields, data: { number: 7, item: '<b>tea</b>' } })
    const { html, text } = await stored(id)
    assert.equal(subject, 'Order 7')
    assert.equal(html, '<p>&lt;b&gt;tea&lt;/b&gt; for liquid@example.com of Organization One by Sender One</p>')
    assert.equal(text, '<b>tea</b> for liquid@example.com of Organization One by Sender One')
    await run(id)
    const plain = await send(fields)
    assert.equal(plain.subject, 'Order {{ data.number }}')
    await run(plain.id)
    await assert.rejects(
      send({ ...fields, html: '{% if %}', data: {} }),
      (error: { code: string; message: string }) => {
        assert.equal(error.code, 'request.invalid_field')
        assert.match(error.message, /html: line 1, column 6: /)
        return true
      },
    )
    await assert.rejects(send({ data: { long: 'x'.repeat(70_000) } }), {
      details: { path: 'data', reason: 'at most 65536 characters' },
    })
  })

  it('are made from a template, whose subject is that of the message unless this has its own', async () => {
    const id = String(new Types.ObjectId())
    const html = '<p>{{ data.code }} for {{ contact.email }}</p><a href="{{ unsubscribe_url }}">Leave</a>'
    test.templates.set(id, { subject: 'Hi {{ contact.email }}', html })
    const contactId = contact('template@example.com')
    const from = { html: undefined, text: undefined, template: id }
    const made = await send({ to: { contactId }, ...from, subject: undefined, data: { code: '<1>' } })
    assert.equal(made.subject, 'Hi template@example.com')
    const kept = await stored(made.id)
    const [, link = ''] = /href="(.*?)"/.exec(kept.html ?? '') ?? []
    assert.equal(test.context.links.readUnsubscribe(link.split('/').at(-1)!)?.contactId, contactId)
    assert.match(kept.html ?? '', /^<p>&lt;1&gt; for template@example\.com<\/p>/)
    assert.match(kept.text ?? '', /^<1> for template@example\.com/)
    assert.equal((await send({ ...from, subject: 'Own {{ data.x }}' })).subject, 'Own')
    const nobody = await stored((await send({ ...from, to: 'nobody-knows@example.com' })).id)
    assert.match(nobody.html ?? '', /href=""/)

    test.templates.set(id, { html })
    await assert.rejects(send({ ...from, subject: undefined }), { code: 'request.missing_field' })
    await assert.rejects(send({ template: id }), { code: 'request.extra_field' })
    await assert.rejects(send({ ...from, template: String(new Types.ObjectId()) }), { code: 'template.unknown' })
    await assert.rejects(send({ subject: undefined }), { code: 'request.missing_field' })
    test.templates.set(id, { html: '{% for i in (1..100000) %}0123456789{% endfor %}' })
    await assert.rejects(send(from), (error: { code: string; details: { path: string } }) => {
      assert.deepEqual([error.code, error.details.path], ['request.invalid_field', 'template'])
      return true
    })
    await forgetWaiting()
  })

  it('count what the organization counts by default, or what they say', async () => {
    const track = { opens: true, clicks: false }
    const { requireMailReach } = test.context
    test.context.requireMailReach = async () => ({ name: 'One', defaultTracking: track })
    assert.deepEqual((await stored((await send()).id)).track, track)
    const own = { opens: false, clicks: false }
    assert.deepEqual((await stored((await send({ track: own })).id)).track, own)
    test.context.requireMailReach = requireMailReach
    assert.equal((await stored((await send()).id)).track, null)
    await forgetWaiting()
  })

  it('end as suppressed if the contact is blocked, or the address suppressed, before the hand-over', async () => {
    const contactId = contact('later@example.com')
    const [blocked, gone] = [await send({ to: { contactId } }), await send({ to: { contactId } })]
    test.contacts.set('later@example.com', { id: contactId, email: 'later@example.com', blocked: true })
    await run(blocked.id)
    test.contacts.delete('later@example.com')
    await run(gone.id)
    const at = new Date()
    const cause = {
      email: 'bounced@example.com',
      kind: 'hard_bounce',
      reason: '550 no such user',
      message: '1',
      at,
    } as const
    await test.context.store.transaction(tx => suppress(test.context, test.organizationId, cause, tx))
    const refused = await send({ to: 'Bounced@example.com' })
    await run(refused.id)
    const ends = await Promise.all([blocked, gone, refused].map(({ id }) => get(id)))
    assert.deepEqual(
      ends.map(({ status, error }) => [status, error]),
      [
        ['suppressed', 'the contact is blocked'],
        ['failed', 'the contact no longer exists'],
        ['suppressed', 'the address is suppressed (hard_bounce): 550 no such user'],
      ],
    )
    assert.deepEqual(await typesOf(blocked.id), ['email.queued', 'email.suppressed'])
    assert.ok(!server.asked.some(to => /^(later|bounced)@/i.test(to)))
  })

  it('do not record the address of a person who is erased while the server answers', async () => {
    const reply = { code: 550, message: '5.1.1 no erased@example.com' }
    for (const [refusal, end] of [[undefined, 'sent'] as const, [reply, 'bounced'] as const]) {
      const email = 'erased@example.com'
      const contactId = contact(email)
      const { id } = await send({ to: { contactId } })
      server.refuse = async (_to, stage) => {
        if (stage !== 'DATA') return undefined
        await test.erase({ contactId, email })
        return refusal
      }
      await run(id)
      server.refuse = () => undefined
      const { to, subject, error, status, steps } = await stored(id)
      assert.deepEqual([to, subject, error, status], ['[erased]', '[erased]', null, end])
      assert.deepEqual(
        steps.map(({ type, detail }) => [type, detail]),
        [
          ['queued', null],
          [end, null],
        ],
      )
      const events = (await test.eventsOf(id)).slice(1)
      assert.deepEqual(
        events.map(({ type, data }) => [type, data.to, data.subject, data.error]),
        [[`email.${end}`, '[erased]', '[erased]', undefined]],
      )
      assert.equal(await test.context.collections.of(test.organizationId).suppressions.count({ emailKey: email }), 0)
    }
  })

  it('of the installation are tried whatever bounced, and are no messages', async () => {
    const account = { key: 'code', to: 'bounced@example.com', subject: 'Code', text: '123456' }
    const { id } = await mailHandlers(test.context).sendMail(account, test.call())
    await run(id)
    assert.equal((await stored(id)).status, 'sent')
    await assert.rejects(get(id), { code: 'message.not_found' })
    await assert.rejects(cancel(id), { code: 'message.not_found' })
    const listed = await listMessages()
    assert.ok(listed.length > 0 && listed.every(message => message.id !== id))
  })

  it('may use senders of the caller, shared ones and the default one, if these can send', async () => {
    const [me, other] = [new Types.ObjectId(), new Types.ObjectId()]
    const mine = await storeSender(test, 'mine@example.org', { owner: me, sharedWith: [other] })
    const use = (from: Sender, user = me) =>
      send({ from: String(from._id), sendAt: in1h() }, String(user)).then(({ id }) => cancel(id))
    await use(mine)
    await use(mine, other)
    await use(sender)
    await assert.rejects(use(mine, new Types.ObjectId()), { code: 'sender.unknown', details: { path: 'from' } })
    await assert.rejects(send({ from: String(new Types.ObjectId()) }), { code: 'sender.unknown' })
    const asOwner = { ...test.context, findUsers: async () => [{ role: 'owner' }] as never }
    const orphan = await storeSender(test, 'orphan@example.org', { owner: null })
    const byHeir = messages(asOwner).sendMessage(request({ from: String(orphan._id) }), test.call(owner))
    await assert.rejects(byHeir, { code: 'sender.not_usable' })
    const idle = await storeSender(test, 'idle@example.org', { owner: me, active: false })
    await assert.rejects(use(idle), { code: 'sender.not_usable' })
    const pending = { provider: 'google', email: null, connectedAt: null, status: 'pending' } as const
    const account = await storeSender(test, 'account@gmail.test', { owner: me, delivery: 'oauth', oauth: pending })
    await assert.rejects(use(account), { code: 'sender.not_usable' })
    await storeDomain(test, 'degraded.org', { status: 'degraded' })
    const degraded = await storeSender(test, 'one@degraded.org', { owner: me })
    await assert.rejects(use(degraded), {
      code: 'sender.domain_unusable',
      details: { path: 'from', domain: 'degraded.org' },
    })
    await test.context.collections
      .of(test.organizationId)
      .senders.updateOne({ _id: sender._id }, { $set: { isDefault: false } })
    await assert.rejects(send(), { code: 'sender.no_default', details: { path: 'from' } })
    await test.context.collections
      .of(test.organizationId)
      .senders.updateOne({ _id: sender._id }, { $set: { isDefault: true } })
  })

  it('are sent at their time, unless they are cancelled before', async () => {
    const sendAt = in1h()
    const [first, second] = [await send({ to: 'timed@example.com', sendAt }), await send({ sendAt })]
    assert.deepEqual([first.status, first.sendAt], ['scheduled', sendAt])
    assert.equal((await stored(first.id)).dueAt!.toISOString(), sendAt)
    assert.deepEqual(await typesOf(first.id), ['email.scheduled'])
    const claimed = await stored(second.id)
    assert.equal((await cancel(second.id)).status, 'cancelled')
    assert.equal(await sendMail(test.context, claimed), 'done')
    await assert.rejects(cancel(second.id), { code: 'message.not_scheduled' })
    assert.equal((await get(second.id)).status, 'cancelled')
    assert.deepEqual(await typesOf(second.id), ['email.scheduled', 'email.cancelled'])
    await run(first.id)
    await server.mailTo('timed@example.com')
    const { status, events } = await get(first.id)
    assert.deepEqual([status, ...events.map(({ type }) => type)], ['sent', 'scheduled', 'queued', 'sent'])
    assert.deepEqual(await typesOf(first.id), ['email.scheduled', 'email.queued', 'email.sent'])
  })

  it('wait above the quota, and fail after all attempts', async () => {
    const waiting = await send({ to: 'waiting@example.com' })
    await run(waiting.id)
    const others = [await send(), await send(), await send()]
    const outcomes = []
    for (const { id } of others) outcomes.push(await sendMail(test.context, await stored(id)))
    assert.deepEqual(outcomes.slice(0, 2), ['done', 'done'])
    assert.ok(typeof outcomes[2] === 'number' && outcomes[2] > 0, `was ${outcomes[2]}`)
    assert.equal((await get(others[2]!.id)).status, 'queued')
    server.refuse = () => ({ code: 451, message: 'try again' })
    assert.equal(typeof (await run(others[2]!.id)), 'number')
    assert.equal(await run(others[2]!.id), 'done')
    server.refuse = () => undefined
    const { status, error } = await get(others[2]!.id)
    assert.equal(status, 'failed')
    assert.match(error!, /^451 /)
  })

  it('refuse what cannot be sent, and keep nothing of it', async () => {
    const count = await mails().count()
    const refusals: [Partial<SendMessageRequest>, code: string, path: string][] = [
      [{ to: 'no address' }, 'request.invalid_field', 'to'],
      [{ to: {} }, 'request.invalid_field', 'to'],
      [{ to: { contactId: 'x' } }, 'request.invalid_field', 'to.contactId'],
      [{ to: { contactId: String(new Types.ObjectId()), email: 'a@example.com' } }, 'request.invalid_field', 'to'],
      [{ text: undefined as never }, 'request.missing_field', 'html'],
      [{ headers: { Bcc: 'other@example.com' } }, 'request.invalid_field', 'headers.Bcc'],
      [{ headers: { 'X-A': 'a\r\nBcc: other@example.com' } }, 'request.invalid_field', 'headers.X-A'],
      [
        { headers: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`X-${i}`, ''])) },
        'request.invalid_field',
        'headers',
      ],
      [{ sendAt: new Date(Date.now() - 1000).toISOString() }, 'request.invalid_field', 'sendAt'],
      [{ sendAt: new Date(Date.now() + 31 * 24 * HOUR_MS).toISOString() }, 'request.invalid_field', 'sendAt'],
    ]
    for (const [fields, code, path] of refusals)
      await assert.rejects(send(fields), (error: { code: string; details: { path: string } }) => {
        assert.deepEqual([error.code, error.details.path], [code, path])
        return true
      })
    assert.equal(await mails().count(), count)
  })

  it('wait in limited number', async () => {
    const held = []
    for (let left = MAX_WAITING; left > 0; left--) held.push(await send({ sendAt: in1h() }))
    await assert.rejects(send(), {
      code: 'quota.too_many_pending',
      details: { limit: MAX_WAITING, what: 'waiting messages per organization', retryAfterSeconds: 60 },
    })
    await cancel(held[0]!.id)
    await send({ sendAt: in1h() })
  })

  it('of the test of a sender are messages, and a blocked contact gets none', async () => {
    contact('tested@example.com')
    const run = (to: string) => sendTestMail(test.context, { id: String(sender._id), to }, test.call(owner))
    await run('tested@example.com')
    const kept = await mails().findOne({ to: 'tested@example.com' })
    const { kind, status, events } = await get(String(kept!._id))
    assert.deepEqual([kind, status, events.length], ['test', 'sent', 1])
    await assert.rejects(run('blocked@example.com'), { code: 'contact.blocked' })
  })
})
