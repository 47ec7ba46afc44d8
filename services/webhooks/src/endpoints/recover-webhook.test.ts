import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type TestContext, testContext } from '../../test/context.ts'
import { recoverWebhook } from './recover-webhook.ts'
import type { Webhook } from './webhook.model.ts'

describe('the recovery of a webhook', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test?.stop())

  const recover = async ({ _id }: Webhook, signal?: AbortSignal) => {
    const since = new Date(Date.now() - 60_000).toISOString()
    const { context, call } = test
    return (await recoverWebhook(context, { id: String(_id), since, missed: true }, call(signal))).scheduled
  }
  const scheduledFor = async ({ _id }: Webhook) =>
    (await test.tenant.deliveries.find({ endpoint: _id })).map(({ event }) => event.type)

  it('leaves out the creation of the webhook itself', async () => {
    const webhook = await test.addWebhook()
    const subject = { kind: 'webhook', id: String(webhook._id), name: 'n' }
    await test.addEvent({ type: 'webhook.created', subject })
    await test.addEvent({ type: 'webhook.created' })
    await test.addEvent({ type: 'list.created' })
    assert.equal(await recover(webhook), 2)
    assert.deepEqual((await scheduledFor(webhook)).sort(), ['list.created', 'webhook.created'])
  })

  it('writes nothing of what is scheduled already', async t => {
    const webhook = await test.addWebhook({ eventTypes: ['segment.created'] })
    await test.addDelivery(webhook, await test.addEvent({ type: 'segment.created' }))
    const missed = await test.addEvent({ type: 'segment.created' })
    t.mock.method(test.context.collections, 'of', () => test.tenant)
    const written = t.mock.method(test.tenant.deliveries, 'bulkWrite')
    assert.deepEqual([await recover(webhook), await recover(webhook)], [1, 0])
    const inserted = written.mock.calls.flatMap(({ arguments: [operations] }) => operations)
    assert.deepEqual(
      inserted.map(operation => 'insertOne' in operation && operation.insertOne.document.event),
      [{ id: String(missed._id), type: 'segment.created' }],
    )
  })

  it('refuses periods that hold nothing', async () => {
    const { _id } = await test.addWebhook()
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const periods = [
      [{ since: at(-1), until: at(-2) }, 'until'],
      [{ since: at(1) }, 'since'],
      [{ since: at(1), until: at(2) }, 'since'],
    ] as const
    for (const [period, path] of periods) {
      const recovered = recoverWebhook(test.context, { id: String(_id), ...period }, test.call())
      await assert.rejects(recovered, { code: 'request.invalid_field', path })
    }
  })

  it('stops when nobody waits for it any more', async () => {
    const webhook = await test.addWebhook({ eventTypes: ['tag.created'] })
    await test.addEvent({ type: 'tag.created' })
    assert.equal(await recover(webhook, AbortSignal.abort()), 0)
    assert.deepEqual(await scheduledFor(webhook), [])
  })
})
