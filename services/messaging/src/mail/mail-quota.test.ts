import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type TestContext, testContext } from '../../test/context.ts'
import { countMail } from './mail-quota.ts'

const LIMIT = 3

let test: TestContext
before(async () => {
  test = await testContext({ MAIL_PER_ADDRESS_DAY: String(LIMIT), MAIL_PER_ORGANIZATION_HOUR: String(LIMIT) })
})
after(() => test.stop())

it('others’ mails use up no notices of an account, which have a quota of their own', async () => {
  const to = 'victim@example.com'
  const send = (purpose: string, organizationId = test.organizationId) =>
    countMail(test.context, { organizationId, to, purpose })
  for (let sent = 0; sent < LIMIT; sent++) await send('invitation')
  await assert.rejects(send('email_change'), { code: 'quota.too_many_pending' })
  for (const purpose of ['email_changed', 'password_changed', 'second_factor_changed']) await send(purpose)
  await assert.rejects(send('email_changed'), { code: 'quota.too_many_pending' })
  await send('email_changed', 'b'.repeat(24))
})
