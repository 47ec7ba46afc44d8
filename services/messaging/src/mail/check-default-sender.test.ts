import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type TestContext, testContext } from '../../test/context.ts'
import { storeDomain, storeSender } from '../../test/senders.ts'
import { mail } from './mail.ts'

describe('the default sender', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test.stop())

  it('is checked and used if there is one that can send', async () => {
    const isUsable = async () => (await mail(test.context).checkDefaultSender({}, test.call())).usable
    const request = { key: 'link', to: 'a@example.com', subject: 'S', text: 'T', fromDefault: true }
    const send = () => mail(test.context).sendMail(request, test.call())
    const { mails } = test.context.collections.of(test.organizationId)
    await storeSender(test, 'other@example.org')
    assert.equal(await isUsable(), false)
    await assert.rejects(send(), { code: 'sender.no_default' })
    await storeSender(test, 'news@example.org', { isDefault: true })
    assert.equal(await isUsable(), false)
    await assert.rejects(send(), { code: 'sender.domain_unusable' })
    assert.equal(await mails.count(), 0)
    await storeDomain(test, 'example.org')
    assert.equal(await isUsable(), true)
    const { id } = await send()
    assert.equal((await mails.findOne({ _id: id }))!.from, 'news@example.org')
  })
})
