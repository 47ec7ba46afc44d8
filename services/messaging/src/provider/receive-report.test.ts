import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { ChangePreferencesRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { ERASED } from '@rollcall/service'
import { placeHold, releaseHold } from '@rollcall/store'
import { eventually } from '@rollcall/testing/eventually'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { suppressionsOf } from '../suppressions/suppress.ts'
import { signingKeyPlace } from './provider.model.ts'
import { receiveReport } from './receive-report.ts'

const signingKey = 'key of the test'
const now = () => Math.floor(Date.now() / 1000)
type Signature = { timestamp: string; token: string; signature: string }
const signed = (timestamp: number | string = now(), token: string = randomUUID(), key = signingKey): Signature => ({
  timestamp: String(timestamp),
  token,
  signature: createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex'),
})

describe('reports of Mailgun', () => {
  let test: TestContext
  let context: Context
  const changes: ChangePreferencesRequest[] = []
  before(async () => {
    test = await testContext({ PUBLIC_URL: 'https://mail.example.com' })
    context = {
      ...test.context,
      changePreferences: async (_organization, change) => {
        changes.push(change)
        return undefined
      },
    }
    const place = signingKeyPlace(test.organizationId)
    const webhookSigningKey = context.secrets.seal(signingKey, place)
    await tenant().providers.insertOne({ kind: 'mailgun', webhookSigningKey })
  })
  after(() => test.stop())
  beforeEach(() => void changes.splice(0))

  const tenant = () => test.context.collections.of(test.organizationId)
  let number = 0
  const newMail = async (to = `reader-${number++}@example.com`, fields: Partial<Mail> = {}) => {
    const _id = new Types.ObjectId()
    const messageId = `<${_id}@news.example.com>`
    const sent = { status: 'sent' as const, sentAt: new Date(), key: String(_id), kind: 'transactional' as const }
    return tenant().mails.insertOne({
      _id,
      to,
      subject: 'S',
      from: 'a@news.example.com',
      messageId,
      ...sent,
      ...fields,
    })
  }
  const stored = async ({ _id }: Mail) => (await tenant().mails.findOne({ _id }))!
  const suppressed = async ({ to }: Mail) =>
    [...(await suppressionsOf(test.context, test.organizationId, [to])).values()][0]
  const keyOf = (organizationId = test.organizationId) => context.links.reportUrl(organizationId).split('/').at(-1)!
  const send = async (body: unknown, { key = keyOf(), organizationId = test.organizationId } = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const request = {
      key,
      organizationId,
      query: '',
      language: 'en' as const,
      isHead: false,
      isPrefetch: false,
      origin: '',
    }
    const rest = { contentType: 'application/json', referer: '', body: Buffer.from(text) }
    return (await receiveReport(context, { ...request, ...rest })).status
  }
  const reportOf = ({ messageId }: Mail, event: string, more: object = {}, signature = signed()) => ({
    signature,
    'event-data': { event, message: { headers: { 'message-id': messageId.slice(1, -1) } }, ...more },
  })
  const refused = { code: 'provider.report_refused' }

  it('move a message on: delivered, opened, clicked', async () => {
    const mail = await newMail()
    for (const [event, more] of [
      ['accepted', {}],
      ['delivered', { 'delivery-status': { message: 'OK' } }],
      ['opened', {}],
      ['clicked', { url: 'https://example.com/' }],
    ] as const)
      assert.equal(await send(reportOf(mail, event, more)), 200)
    const { status, steps } = await stored(mail)
    assert.equal(status, 'clicked')
    assert.deepEqual(
      steps.map(({ type, detail }) => [type, detail]),
      [
        ['delivered', 'OK'],
        ['opened', null],
        ['clicked', 'https://example.com/'],
      ],
    )
    const types = (await test.eventsOf(String(mail._id))).map(({ type }) => type)
    assert.deepEqual(types, ['email.delivered', 'email.opened', 'email.clicked'])
  })

  it('of messages to erased people are taken and ignored', async () => {
    const mail = await newMail(ERASED)
    for (const [event, more] of [
      ['delivered', {}],
      ['opened', {}],
      ['clicked', { url: 'https://example.com/?for=reader@example.com' }],
      ['failed', { severity: 'permanent', 'delivery-status': { message: '550 <reader@example.com>' } }],
      ['complained', {}],
    ] as const)
      assert.equal(await send(reportOf(mail, event, more)), 200)
    assert.deepEqual([(await stored(mail)).status, (await stored(mail)).steps], ['sent', []])
    assert.deepEqual(await test.eventsOf(String(mail._id)), [])
  })

  it('do not count programs', async () => {
    const mail = await newMail()
    await send(reportOf(mail, 'opened', { 'client-info': { bot: 'generic' } }))
    assert.equal((await stored(mail)).status, 'sent')
  })

  it('suppress an address that failed permanently, or that complained', async () => {
    const bounced = await newMail()
    await send(
      reportOf(bounced, 'failed', { severity: 'permanent', 'delivery-status': { message: '550 no such user' } }),
    )
    const { kind, reason, message } = (await suppressed(bounced))!
    assert.deepEqual([kind, reason, message], ['hard_bounce', '550 no such user', String(bounced._id)])
    assert.deepEqual([(await stored(bounced)).status, (await stored(bounced)).error], ['bounced', '550 no such user'])
    const complained = await newMail()
    await send(reportOf(complained, 'complained'))
    assert.equal((await suppressed(complained))?.kind, 'complaint')
    const types = [...(await test.eventsOf(String(bounced._id))), ...(await test.eventsOf(String(complained._id)))]
    assert.deepEqual(
      types.map(({ type }) => type),
      ['email.bounced', 'email.complained'],
    )
  })

  it('suppress an address only if it was rejected itself, or is on a list of Mailgun', async () => {
    const cases: [reason: string, status: object, kind: string | undefined][] = [
      ['bounce', { code: 550, 'enhanced-code': '5.1.1', message: '5.1.1 no such user' }, 'hard_bounce'],
      ['bounce', { code: 550, 'enhanced-code': '', message: 'no such user' }, 'hard_bounce'],
      ['bounce', { code: 550, 'enhanced-code': '5.7.1', message: '5.7.1 unsolicited mail' }, undefined],
      ['bounce', { code: 550, message: '5.7.1 unsolicited mail' }, undefined],
      ['bounce', { code: 554, message: 'looks like spam' }, undefined],
      ['delayed-bounce', { code: 552, 'enhanced-code': '5.2.2', message: '5.2.2 mailbox full' }, undefined],
      ['old', { code: 602, message: 'too old' }, undefined],
      ['suppress-bounce', { code: 605, description: 'previously bounced address' }, 'hard_bounce'],
      ['suppress-complaint', { code: 607, description: 'address that complained' }, 'complaint'],
      ['suppress-unsubscribe', { code: 606, description: 'unsubscribed address' }, undefined],
    ]
    for (const [reason, status, expected] of cases) {
      const mail = await newMail()
      await send(reportOf(mail, 'failed', { severity: 'permanent', reason, 'delivery-status': status }))
      assert.equal((await suppressed(mail))?.kind, expected, JSON.stringify([reason, status]))
      assert.equal((await stored(mail)).status, expected === 'complaint' ? 'complained' : 'bounced', reason)
      const countsSoft = expected === undefined && reason !== 'suppress-unsubscribe'
      assert.equal(await tenant().softBounces.count({ emailKey: mail.to }), countsSoft ? 1 : 0, reason)
    }
  })

  it('suppress an address after five messages in 14 days that failed for a while', async () => {
    const soft = { severity: 'temporary', 'delivery-status': { message: '452 mailbox full' } }
    const to = 'full@example.com'
    const fail = async (mail: Mail) => send(reportOf(mail, 'failed', soft))
    for (let times = 0; times < 4; times++) await fail(await newMail(to))
    await send(reportOf(await newMail(to), 'delivered')) // begins anew
    for (let times = 0; times < 3; times++) await fail(await newMail(to))
    const last = await newMail(to)
    for (let times = 0; times < 3; times++) await fail(last) // retries of one message count once
    assert.equal(await suppressed(last), undefined)
    const old = new Date(Date.now() - 15 * 24 * 3_600_000)
    const [record] = await tenant().softBounces.find({ emailKey: to })
    const [first, ...others] = record!.messages
    await tenant().softBounces.updateOne({ emailKey: to }, { $set: { messages: [{ ...first, at: old }, ...others] } })
    await fail(await newMail(to))
    assert.equal(await suppressed(last), undefined, 'the first one is too old')
    await fail(await newMail(to))
    const { kind, reason } = (await suppressed(last))!
    assert.equal(kind, 'hard_bounce')
    assert.match(reason, /^5 temporary failures in 14 days, the last: 452 mailbox full$/)
    assert.equal((await stored(last)).status, 'sent')
  })

  it('unsubscribe the contact of a message', async () => {
    const contact = String(new Types.ObjectId())
    test.contacts.set('known@example.com', { id: contact, email: 'known@example.com' })
    const byAddress = await newMail('known@example.com')
    await send(reportOf(byAddress, 'unsubscribed'))
    const byId = await newMail('former@example.com', { contact })
    await send(reportOf(byId, 'unsubscribed'))
    await send(reportOf(await newMail('nobody@example.com'), 'unsubscribed'))
    assert.deepEqual(
      changes.map(({ contactId, how, unsubscribed, emailId }) => [contactId, how, unsubscribed, emailId]),
      [byAddress, byId].map(({ _id }) => [contact, 'provider', true, String(_id)]),
    )
    const repeated = reportOf(byAddress, 'unsubscribed')
    await send(repeated)
    await assert.rejects(send(repeated), refused)
    assert.equal(changes.length, 3)
  })

  it('of unknown messages and events are taken and ignored', async () => {
    const unknown = { messageId: `<${'f'.repeat(24)}@news.example.com>` } as Mail
    assert.equal(await send(reportOf(unknown, 'failed', { severity: 'permanent' })), 200)
    assert.equal(await send({ signature: signed(), 'event-data': { event: 'delivered' } }), 200)
    assert.equal(await send(reportOf(await newMail(), 'list_member_uploaded')), 200)
  })

  it('are refused, with no effect, if they are forged, stale or repeated', async () => {
    const mail = await newMail()
    const fatal = { severity: 'permanent' }
    const good = signed()
    await send(reportOf(await newMail(), 'delivered', {}, good))
    const hostile: Signature[] = [
      good, // repeated for another message
      signed(now(), randomUUID(), 'another key'),
      signed(now() - 16 * 60),
      signed(now() + 16 * 60),
      signed('nonsense'),
      { ...signed(), token: randomUUID() },
      { ...signed(), timestamp: String(now() - 1) },
      { ...signed(), signature: '' },
      { ...signed(), signature: signed().signature.slice(2) },
    ]
    for (const signature of hostile) await assert.rejects(send(reportOf(mail, 'failed', fatal, signature)), refused)
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      '{}',
      { signature: signed() },
      { signature: signed(), 'event-data': [] },
    ])
      await assert.rejects(send(body), refused)
    const report = () => reportOf(mail, 'failed', fatal)
    const other = String(new Types.ObjectId())
    for (const where of [
      { key: '' },
      { key: 'nonsense' },
      { key: keyOf(other) },
      { organizationId: other },
      { organizationId: other, key: keyOf(other) },
    ])
      await assert.rejects(send(report(), where), refused)
    assert.equal((await stored(mail)).status, 'sent')
    assert.equal(await suppressed(mail), undefined)
  })

  it('are answered after mail to the address that is being handed over, if it gets no more', async () => {
    const mail = await newMail()
    const { holds } = tenant()
    const id = await placeHold(holds, [mail.to], 600_000)
    assert.equal(await send(reportOf(mail, 'delivered')), 200)
    let isAnswered = false
    const complaint = send(reportOf(mail, 'complained')).then(() => {
      isAnswered = true
    })
    await eventually('the address is suppressed', async () => (await suppressed(mail)) !== undefined)
    assert.equal(isAnswered, false)
    await releaseHold(holds, id)
    await complaint
  })

  it('that could not be taken are accepted when they are sent again', async () => {
    const mail = await newMail(undefined, { status: 'queued', sentAt: null })
    const report = reportOf(mail, 'delivered')
    await assert.rejects(send(report), { code: 'service.unavailable' })
    await tenant().mails.updateOne({ _id: mail._id }, { $set: { status: 'sent', sentAt: new Date() } })
    assert.equal(await send(report), 200)
    assert.equal((await stored(mail)).status, 'delivered')
    await assert.rejects(send(report), refused)
  })
})
