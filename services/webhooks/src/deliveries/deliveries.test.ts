import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DeliveryDetailsJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { jsonOf } from '@rollcall/testing/calls'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { recoverWebhook } from '../endpoints/recover-webhook.ts'
import type { Webhook } from '../endpoints/webhook.model.ts'
import { webhooks } from '../endpoints/webhooks.ts'
import { type Outcome, sendRequest } from './attempt.ts'
import { deliver, recordOutcome } from './deliver.job.ts'
import { deliveries } from './deliveries.ts'
import type { Delivery } from './delivery.model.ts'

describe('deliveries', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test?.stop())

  const replay = (id: unknown, deadline = Date.now() + 30_000) =>
    jsonOf<DeliveryDetailsJson>(
      deliveries(test.context).replayDelivery({ id: String(id) }, { ...test.call(), deadline }),
    )
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

  it('and their endpoint count no failure when a replay ends with its call', async () => {
    test.receiver.answer('hang')
    const dueAt = new Date(Date.now() + 60_000)
    const webhook = await test.addWebhook()
    const delivery = await test.addDelivery(webhook, await test.addEvent(), { dueAt })
    const { attempts, lastError } = await replay(delivery._id, Date.now() + 1_050)
    assert.deepEqual([attempts.length, lastError], [1, 'the endpoint did not answer in time'])
    assert.deepEqual(await stateOf(delivery), { state: 'pending', dueAt, failures: 0 })
    const { failures, failingSince, lastFailureAt } = await test.tenant.webhooks.get(webhook._id, 'webhook')
    assert.deepEqual([failures, failingSince, lastFailureAt], [0, null, null])
  })

  it('say why they are discarded', async () => {
    const [on, off] = [await test.addWebhook(), await test.addWebhook({ active: false })]
    const [event, expired] = [await test.addEvent(), await test.addEvent()]
    const due = [
      await test.addDelivery(off, event),
      await test.addDelivery(on, expired),
      await test.addDelivery({ ...on, _id: new Types.ObjectId() }, event),
    ]
    await test.tenant.events.deleteOne({ _id: expired._id })
    for (const delivery of due) await deliver(test.context, delivery)
    const ids = due.map(({ _id }) => _id)
    const found = await test.tenant.deliveries.find({ _id: { $in: ids }, state: 'discarded' }, { sort: { _id: 1 } })
    const errors = found.map(({ lastError }) => lastError)
    assert.deepEqual(errors, ['the webhook is off', 'the event has expired', 'deleted'])
  })

  it('stay delivered by a replay, whatever an attempt of the job finds meanwhile', async () => {
    const [webhook, event] = [await test.addWebhook(), await test.addEvent()]
    const delivery = await test.addDelivery(webhook, event)
    const sent = async (status: number) => {
      test.receiver.answer({ status })
      return sendRequest(test.context, webhook, event, '{}')
    }
    const [accepted, refused] = [await sent(204), await sent(500)]
    await test.tenant.deliveries.updateOne({ _id: delivery._id }, { $inc: { attempts: 1 } }) // what a claim does
    const claimed = await test.tenant.deliveries.get(delivery._id, 'delivery')
    await recordOutcome(test.context, webhook, delivery, accepted, 'manual')
    await recordOutcome(test.context, webhook, claimed, refused, 'auto')
    const { attemptCount, lastStatus } = await test.tenant.deliveries.get(delivery._id, 'delivery')
    assert.deepEqual(await stateOf(delivery), { state: 'delivered', dueAt: null, failures: 0 })
    assert.deepEqual([attemptCount, lastStatus], [2, 204])
  })

  it('show no data of events to those who may not read these', async () => {
    test.receiver.answer({ status: 422, body: 'one@example.com is unknown' })
    const event = await test.addEvent({ data: JSON.stringify({ email: 'one@example.com' }) })
    const { _id } = await test.addDelivery(await test.addWebhook(), event)
    const call = test.call()
    const limited = { ...call, caller: { ...call.caller, permissions: ['webhooks.read', 'webhooks.create'] as const } }
    const { replayDelivery, getDelivery } = deliveries(test.context)
    for (const show of [replayDelivery, getDelivery]) {
      const hidden = await jsonOf<DeliveryDetailsJson>(show({ id: String(_id) }, limited))
      assert.doesNotMatch(JSON.stringify(hidden), /one@example/)
      assert.deepEqual([hidden.request.body, hidden.lastError], ['', 'the endpoint answered 422'])
    }
    const shown = await jsonOf<DeliveryDetailsJson>(getDelivery({ id: String(_id) }, call))
    assert.match(shown.request.body, /one@example/)
    assert.match(shown.attempts[0]!.responseBody, /one@example/)
  })

  describe('of an endpoint whose URL changes', () => {
    const change = (webhook: Webhook, url = `${test.receiver.url}/new`) =>
      webhooks(test.context).updateWebhook({ id: String(webhook._id), url }, test.call())
    const shown = ({ _id }: Webhook) => test.tenant.webhooks.get(_id, 'webhook')
    const attempt = async (webhook: Webhook, status: number) => {
      test.receiver.answer({ status })
      const event = await test.addEvent()
      const delivery = await test.addDelivery(webhook, event)
      const outcome = await sendRequest(test.context, webhook, event, '{}')
      return () => recordOutcome(test.context, webhook, delivery, outcome, 'auto')
    }

    it('count no failures of the former one', async () => {
      const failingSince = new Date(Date.now() - 121 * 3_600_000)
      const webhook = await test.addWebhook({ failingSince, failures: 9, isReported: true })
      await change(webhook)
      await (await attempt(await shown(webhook), 503))()
      const { active, failures, isReported } = await shown(webhook)
      assert.deepEqual([active, failures, isReported], [true, 1, false])
    })

    it('neither switch it off nor count when they end at the former one', async () => {
      const webhook = await test.addWebhook({ failures: 3, failingSince: new Date() })
      const outcomes = [await attempt(webhook, 410), await attempt(webhook, 204), await attempt(webhook, 500)]
      await change(webhook)
      for (const record of outcomes) await record()
      const { active, failures, lastSuccessAt, lastFailureAt } = await shown(webhook)
      assert.deepEqual([active, failures, lastSuccessAt, lastFailureAt], [true, 0, null, null])
    })
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
