import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { onWebhookEvents } from './on-webhook-events.ts'

const OWNERS = ['one@example.com', 'two@example.com']

let test: TestContext
before(async () => {
  test = await testContext({ MAIL_PER_ADDRESS_DAY: '3', CONSOLE_URL: 'https://rollcall.test/console' })
})
after(() => test.stop())

const on = () => onWebhookEvents({ ...test.context, ownersOf: async () => OWNERS }).on

/** Consumes an event about a webhook, and returns all mails. */
async function consume(type: 'webhook.failing' | 'webhook.disabled', fields: object) {
  const webhook = { _id: 'b'.repeat(24), id: 'b'.repeat(24), name: 'Order desk', ...fields }
  const event = { id: String(new Types.ObjectId()), subject: webhook.id, organization: test.organizationId }
  const handle = on()[type] as (data: object, context: object) => Promise<void>
  await test.context.store.transaction(tx => handle({ webhook, actor: {} }, { event, tx }))
  return test.context.collections.of(test.organizationId).mails.find({}, { sort: { _id: 1 } })
}

it('owners get mail of the installation about a webhook that fails, and that was switched off', async () => {
  const mails = await consume('webhook.failing', { failingSince: '2026-05-01T09:00:00.000Z' })
  assert.deepEqual(
    mails.map(({ to, kind, sender }) => [to, kind, sender]),
    OWNERS.map(to => [to, 'account', null]),
  )
  assert.match(mails[0]!.subject, /Order desk.* is failing/)
  assert.match(mails[0]!.text!, /since 2026-05-01 09:00 UTC[\s\S]*rollcall\.test\/console\/webhooks\/b{24}$/)
  const reasons = { gone: /answered 410/, failing: /failed for five days/ }
  for (const [disabledReason, pattern] of Object.entries(reasons)) {
    const latest = (await consume('webhook.disabled', { disabledReason })).at(-1)!
    assert.match(latest.subject, /switched off/)
    assert.match(latest.text!, pattern)
  }
})

it('owners get no more than their quota of it', async () => {
  assert.equal((await consume('webhook.disabled', { disabledReason: 'gone' })).length, 6)
})
