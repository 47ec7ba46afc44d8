import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DeliveryDetailsJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { jsonOf } from '@rollcall/testing/calls'
import { type TestContext, testContext } from '../../test/context.ts'
import { recoverWebhook } from '../endpoints/recover-webhook.ts'
import { type Outcome, sendRequest } from './attempt.ts'
import { recordOutcome } from './deliver.job.ts'
import { deliveries } from './deliveries.ts'
import type { Delivery } from './delivery.model.ts'

describe('deliveries', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test?.stop())

  const replay = (id: unknown) =>
    jsonOf<DeliveryDetailsJson>(deliveries(test.context).replayDelivery({ id: String(id) }, test.call()))
  const stateOf = async ({ _id }: Delivery) => {
    const { state, dueAt, failures } = await test.tenant.deliveries.get(_id, 'delivery')
    return { state, dueAt, failures }
  }

  for (const state of ['delivered', 'discarded', 'failed'] as const)
    it(`stay ${state} when a replay fails`, async () => {
      test.receiver.answer({ status: 500 })
      const delivery = await test.addDelivery(await test.addWebhook(), await test.addEvent(), { state, dueAt: null })
      const { attempts, lastStatus } = await replay(delivery._id)
      assert.deepEqual([attempts.length, lastStatus], [1, 500])
      assert.deepEqual(await stateOf(delivery), { state, dueAt: null, failures: 0 })
    })

  it('stay due when a replay fails', async () => {
    test.receiver.answer({ status: 500 })
    const dueAt = new Date(Date.now() + 60_000)
    const delivery = await test.addDelivery(await test.addWebhook(), await test.addEvent(), { dueAt })
    await replay(delivery._id)
    assert.deepEqual(await stateOf(delivery), { state: 'pending', dueAt, failures: 1 })
  })

  it('stay discarded when an attempt ends after the endpoint was switched off', async () => {
    const webhook = await test.addWebhook()
    const [gone, late] = [
      await test.addDelivery(webhook, await test.addEvent()),
      await test.addDelivery(webhook, await test.addEvent()),
    ]
    const record = (delivery: Delivery, outcome: Partial<Outcome>) =>
      recordOutcome(test.context, webhook, delivery, { ...answered, ...outcome }, 'auto')
    test.receiver.answer({ status: 500 })
    const answered = await sendRequest(test.context, webhook, await test.addEvent(), '{}')
    await record(gone, { isGone: true })
    await record(late, { isOverloaded: true })
    assert.deepEqual(await stateOf(late), { state: 'discarded', dueAt: null, failures: 1 })
    await test.tenant.webhooks.updateOne({ _id: webhook._id }, { $set: { active: true } })
    const since = new Date(Date.now() - 60_000).toISOString()
    const { scheduled } = await recoverWebhook(test.context, { id: String(webhook._id), since }, test.call())
    assert.equal(scheduled, 2)
  })
})
