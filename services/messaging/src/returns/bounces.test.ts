import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { createTransport } from 'nodemailer'
import { type TestContext, testContext } from '../../test/context.ts'
import { deliveryReport, feedbackReport } from '../../test/reports.ts'
import { storeDomain, storeSender } from '../../test/senders.ts'
import { openDelivery } from '../mail/deliver.ts'
import type { Mail, MailStatus } from '../mail/mail.model.ts'
import type { Sender } from '../senders/sender.model.ts'
import { suppressionsOf } from '../suppressions/suppress.ts'
import { startBounceListener } from './bounce-listener.ts'
import type { BounceServer } from './bounce-server.ts'

const returnPath = { type: 'CNAME', name: 'bounce.example.org', value: 'bounce.mail.rollcall.test' } as const
const failed = deliveryReport('Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user')
const delayed = deliveryReport('Action: delayed\nStatus: 4.2.0')

describe('mail that comes back', () => {
  let test: TestContext
  let server: MailServer
  let bounces: BounceServer
  const outcomes: string[] = []
  before(async () => {
    server = await startMailServer()
    test = await testContext({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, BOUNCE_SMTP_PORT: '0' })
    test.context.mailsReturned = { inc: ({ outcome }) => void outcomes.push(outcome) }
    bounces = await startBounceListener(test.context, 0)
  })
  after(async () => {
    await bounces.stop()
    await test.stop()
    await server.stop()
  })

  const tenant = () => test.context.collections.of(test.organizationId)
  let number = 0
  const sentMail = async (fields: Partial<Mail> = {}): Promise<Mail> => {
    const to = `reader-${number++}@example.com`
    const sent = { status: 'sent' as MailStatus, kind: 'transactional' as const, sentAt: new Date(), subject: 'News' }
    return tenant().mails.insertOne({
      key: to,
      to,
      from: 'n@example.org',
      messageId: '<1@example.org>',
      ...sent,
      ...fields,
    })
  }
  const stored = async ({ _id }: Mail) => (await tenant().mails.findOne({ _id }))!
  const suppressed = async ({ to }: Mail) =>
    [...(await suppressionsOf(test.context, test.organizationId, [to])).values()][0]
  const addressOf = (mail: Mail) => test.context.links.bounceAddress(mail, 'bounce.example.org')
  /** Sends a mail to the server for bounces, and returns the code of its reply. */
  const deliver = (to: string, raw: string) =>
    createTransport({ host: '127.0.0.1', port: bounces.port, ignoreTLS: true })
      .sendMail({ envelope: { from: '', to: [to] }, raw })
      .then(
        ({ response }) => Number(response.slice(0, 3)),
        ({ responseCode }) => responseCode as number,
      )

  describe('goes to an address of its message', () => {
    const fromOf = async (sender: Sender, mail: Mail) => {
      const send = await openDelivery(test.context, test.organizationId, sender)
      const content = { messageId: mail.messageId, date: new Date(), to: mail.to, subject: 's', text: 't', html: null }
      await send({ mail, ...content })
      return (await server.mailTo(mail.to)).from
    }

    it('if its domain has published that, whatever server delivers it', async () => {
      const record = { ...returnPath, purpose: 'return_path' as const, required: true, found: [], reason: null }
      const published = { ...record, status: 'ok' as const, checkedAt: new Date() }
      await storeDomain(test, 'example.org', { sendingRecords: [published] })
      const unanswered = { ...published, name: 'bounce.unanswered.example', status: 'error' as const }
      await storeDomain(test, 'unanswered.example', { sendingRecords: [unanswered] })
      await storeDomain(test, 'pending.example', { sendingRecords: [unanswered], status: 'pending' })
      await storeDomain(test, 'not-yet.example', { sendingRecords: [{ ...published, status: 'missing' }] })
      await storeDomain(test, 'mailgun.example', { sendingRecords: [published], provider: 'mailgun' })
      const smtp = { host: '127.0.0.1', port: server.port, secure: false, username: null }
      test.context.addressPolicy.allowPrivate = true
      for (const delivery of ['hosted', 'provider', 'smtp'] as const) {
        const sender = await storeSender(test, `${delivery}@example.org`, { delivery, smtp })
        const mail = await sentMail()
        assert.equal(await fromOf(sender, mail), addressOf(mail), delivery)
      }
      const mail = await sentMail()
      const kept = await fromOf(await storeSender(test, 'news@unanswered.example'), mail)
      assert.equal(kept, test.context.links.bounceAddress(mail, 'bounce.unanswered.example'))
      for (const email of ['news@pending.example', 'news@not-yet.example', 'news@mailgun.example'])
        assert.equal(await fromOf(await storeSender(test, email), await sentMail()), email)
      test.context.config.BOUNCE_SMTP_PORT = undefined
      const deaf = await storeSender(test, 'deaf@example.org')
      assert.equal(await fromOf(deaf, await sentMail()), 'deaf@example.org')
      test.context.config.BOUNCE_SMTP_PORT = 0
    })

    it('of at most 64 characters before the @, in any case', async () => {
      const mail = await sentMail()
      const [local = ''] = addressOf(mail).split('@')
      assert.ok(local.length <= 64)
      assert.equal(await deliver(addressOf(mail).toUpperCase(), failed), 250)
      assert.equal((await stored(mail)).status, 'bounced')
    })
  })

  it('as a permanent failure suppresses a bad address', async () => {
    const mail = await sentMail()
    for (let time = 0; time < 2; time++) assert.equal(await deliver(addressOf(mail), failed), 250)
    const { status, error, steps } = await stored(mail)
    assert.deepEqual([status, error, steps.length], ['bounced', '550 5.1.1 no such user', 1])
    const { kind, count } = (await suppressed(mail))!
    assert.deepEqual([kind, count], ['hard_bounce', 1])
    const events = await test.eventsOf(String(mail._id))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['email.bounced'],
    )
  })

  it('for another reason, or for now, suppresses the address at the fifth message', async () => {
    const full = deliveryReport('Action: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552 5.2.2 full')
    const to = 'full@example.com'
    const mails = await Promise.all(Array.from({ length: 5 }, (_, index) => sentMail({ to, key: `full ${index}` })))
    for (const [index, mail] of mails.entries()) {
      assert.equal(await suppressed(mail), undefined)
      for (let time = 0; time < 2; time++) assert.equal(await deliver(addressOf(mail), index % 2 ? full : delayed), 250)
    }
    const { kind, reason } = (await suppressed(mails[0]!))!
    assert.equal(kind, 'hard_bounce')
    assert.match(reason, /^5 temporary failures in 14 days/)
    assert.deepEqual([(await stored(mails[0]!)).status, (await stored(mails[1]!)).status], ['sent', 'bounced'])
  })

  it('for now is forgotten once a message arrives', async () => {
    const to = 'again@example.com'
    const send = (index: number) => sentMail({ to, key: `again ${index}` })
    for (let index = 0; index < 4; index++) await deliver(addressOf(await send(index)), delayed)
    const delivered = await send(4)
    assert.equal(await deliver(addressOf(delivered), deliveryReport('Action: delivered\nStatus: 2.0.0')), 250)
    assert.equal((await stored(delivered)).status, 'delivered')
    const last = await send(5)
    await deliver(addressOf(last), delayed)
    assert.equal(await suppressed(last), undefined)
  })

  it('as a complaint suppresses the address', async () => {
    const mail = await sentMail({ status: 'opened' })
    assert.equal(await deliver(addressOf(mail), feedbackReport('abuse')), 250)
    assert.equal((await stored(mail)).status, 'complained')
    assert.equal((await suppressed(mail))!.kind, 'complaint')
  })

  it('changes nothing if it reports nothing, or of no message', async () => {
    const mail = await sentMail()
    const none = { ...mail, _id: mail.organization }
    const account = await sentMail({ kind: 'account' })
    for (const [to, raw] of [
      [mail, 'Subject: I am away\r\n\r\nUntil Monday'],
      [mail, feedbackReport('not-spam')],
      [none, failed],
      [account, failed],
    ] as const)
      assert.equal(await deliver(addressOf(to), raw), 250)
    assert.deepEqual([(await stored(mail)).status, (await stored(account)).status], ['sent', 'sent'])
    assert.equal(await suppressed(account), undefined)
  })

  it('is refused at addresses that were not signed here', async () => {
    const mail = await sentMail()
    const [local = '', domain] = addressOf(mail).split('@')
    const other = local.endsWith('a') ? 'b' : 'a'
    const forged = [
      `${local.slice(0, -1)}${other}@${domain}`,
      `${local.slice(0, -8)}@${domain}`,
      `${local}a@${domain}`,
      `b+@${domain}`,
      `postmaster@${domain}`,
      `${local.slice(2)}@${domain}`,
      `${local}@example.org`,
      `b+${test.context.links.unsubscribeUrl(mail).split('/').at(-1)}@${domain}`,
    ]
    for (const to of forged) assert.equal(await deliver(to, failed), 550, to)
    assert.equal((await stored(mail)).status, 'sent')
    await eventually('all are counted', () => outcomes.filter(each => each === 'refused').length >= forged.length)
  })

  it('has to come again while its message is being handed over, or the database is away', async () => {
    const mail = await sentMail({ status: 'queued', sentAt: null })
    assert.equal(await deliver(addressOf(mail), failed), 451)
    const { transaction } = test.context.store
    test.context.store.transaction = () => Promise.reject(new Error('the database is away'))
    assert.equal(await deliver(addressOf(await sentMail()), failed), 451)
    test.context.store.transaction = transaction
  })

  describe('is limited', () => {
    /** A connection, and the lines that it got. */
    const open = async (): Promise<{ socket: Socket; lines: () => string[] }> => {
      const socket = connect(bounces.port, '127.0.0.1').setEncoding('utf8')
      socket.on('error', () => {})
      let text = ''
      socket.on('data', part => {
        text += part
      })
      await once(socket, 'connect')
      return { socket, lines: () => text.split('\r\n').filter(Boolean) }
    }
    const greeted = async (connection: Awaited<ReturnType<typeof open>>) =>
      eventually('a greeting', () => connection.lines()[0]?.startsWith('220 '))

    it('in size', async () => {
      const mail = await sentMail()
      assert.equal(await deliver(addressOf(mail), `${failed}${'x'.repeat(70)}\r\n`.repeat(4000)), 552)
      assert.equal((await stored(mail)).status, 'sent')
    })

    /** Sends lines on a new connection and returns the codes of all replies. */
    const codesOf = async (...lines: string[]) => {
      const connection = await open()
      await greeted(connection)
      connection.socket.write(`EHLO x\r\nMAIL FROM:<>\r\n${lines.join('\r\n')}\r\nQUIT\r\n`)
      await once(connection.socket, 'close')
      return connection.lines().map(line => line.slice(0, 3))
    }

    it('in recipients of a mail, and in wrong ones of a connection', async () => {
      const good = async () => `RCPT TO:<${addressOf(await sentMail())}>`
      assert.deepEqual((await codesOf(await good(), await good())).slice(-3), ['250', '452', '221'])
      const codes = await codesOf(...Array(9).fill('RCPT TO:<x@bounce.example.org>'))
      assert.deepEqual(
        codes.filter(code => code !== '250' && code !== '220'),
        [...Array(5).fill('550'), '421'],
      )
    })

    it('in connections of one address, which others do not suffer from', async () => {
      const held = await Promise.all(Array.from({ length: 10 }, open))
      for (const connection of held) await greeted(connection)
      const eleventh = await open()
      await once(eleventh.socket, 'close')
      assert.deepEqual(eleventh.lines(), [])
      const other = connect({ port: bounces.port, host: '127.0.0.1', localAddress: '127.0.0.2' })
      const [greeting] = (await once(other, 'data')) as [Buffer]
      assert.match(greeting.toString(), /^220 /)
      for (const { socket } of [...held, { socket: other }]) socket.destroy()
      await eventually('it is counted', () => outcomes.includes('dropped'))
      const mail = await sentMail()
      await eventually('there is room again', async () => (await deliver(addressOf(mail), failed)) === 250)
    })
  })
})
