import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type Caller, serviceCaller } from '@rollcall/rpc'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { updateSender } from './change-sender.ts'
import { secretPlace } from './secret-places.ts'

let test: TestContext
before(async () => {
  test = await testContext()
})
after(() => test.stop())

it('finding 17: a password goes to the server that it was set for, not to one of a concurrent change', async () => {
  const { context } = test
  const user = new Types.ObjectId()
  const caller: Caller = { ...serviceCaller('test', test.organizationId), kind: 'session', userId: String(user) }
  const { senders } = context.collections.of(test.organizationId)
  const own = { host: 'own.example.com', port: 587, secure: false, username: 'user' }
  const { _id } = await senders.insertOne({
    ...{
      name: 'N',
      email: 's@example.com',
      emailKey: 's@example.com',
      domain: 'example.com',
      delivery: 'smtp' as const,
    },
    ...{ smtp: own, owner: user, creator: user },
    smtpPassword: context.secrets.seal('old', 'anywhere'),
  })
  const id = String(_id)
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  // The look-up of the owner's change takes long; meanwhile somebody else names another server.
  const resolve = async (name: string) => {
    if (name === own.host) {
      asked.resolve()
      await answered.promise
    }
    return [{ address: '192.0.2.1', family: 4 }]
  }
  const slow = { ...context, addressPolicy: { allowPrivate: false, allowExamples: true, resolve } }
  const rotating = updateSender(slow, { id, smtp: { password: 'the new secret' } }, caller)
  await asked.promise
  await updateSender(slow, { id, smtp: { host: 'evil.example.com', password: 'x' } }, caller)
  answered.resolve()
  await assert.rejects(rotating, {
    code: 'sender.smtp_changed',
    message: 'the mail server was changed concurrently, please try again',
  })
  const { smtp, smtpPassword, ...stored } = (await senders.findOne({ _id }))!
  assert.equal(smtp?.host, 'evil.example.com')
  assert.equal(context.secrets.open(smtpPassword!, secretPlace.password({ ...stored, _id })), 'x')
})
