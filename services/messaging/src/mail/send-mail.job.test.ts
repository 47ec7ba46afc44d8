import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import { type MailServer, startMailServer } from '@rollcall/testing/mail-server'
import { type TestContext, testContext } from '../../test/context.ts'
import type { Context } from '../context.ts'
import { sendMail } from './send-mail.job.ts'

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

/** The context, whose database refuses so many transactions. */
function awayFor(count: number, context: Context): Context {
  let left = count
  const transaction: Context['store']['transaction'] = async (...given) => {
    if (left-- > 0) throw new AppError('service.unavailable', {})
    return context.store.transaction(...given)
  }
  return { ...context, store: { ...context.store, transaction } }
}
