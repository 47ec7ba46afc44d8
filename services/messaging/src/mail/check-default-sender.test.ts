import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type TestContext, testContext } from '../../test/context.ts'
import { storeDomain, storeSender } from '../../test/senders.ts'
import { mail } from './mail.ts'

describe('the check of the default sender', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test.stop())

  it('says whether there is one that can send', async () => {
    const isUsable = async () => (await mail(test.context).checkDefaultSender({}, test.call())).usable
    assert.equal(await isUsable(), false)
    await storeSender(test, 'other@example.org')
    assert.equal(await isUsable(), false)
    await storeSender(test, 'news@example.org', { isDefault: true })
    assert.equal(await isUsable(), false)
    await storeDomain(test, 'example.org')
    assert.equal(await isUsable(), true)
  })
})
