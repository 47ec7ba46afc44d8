import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { UpdateWebhookRequest, WebhookJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import type { Event } from '@rollcall/runtime'
import { jsonOf } from '@rollcall/testing/calls'
import { type TestContext, testContext } from '../../test/context.ts'
import { webhooks } from './webhooks.ts'

describe('a change of a webhook', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test?.stop())

  /** Adds a webhook. Returns what changes it, and what its events say. */
  const created = async (fields: object = {}) => {
    const { createWebhook, updateWebhook } = webhooks(test.context)
    const draft = { name: 'n', url: `${test.receiver.url}/n`, eventTypes: [], ...fields }
    const { id } = await jsonOf<WebhookJson>(createWebhook(draft, test.call()))
    const change = (request: Omit<UpdateWebhookRequest, 'id'>) => updateWebhook({ id, ...request }, test.call())
    const logged = async () => {
      const outbox = test.context.store.connection.collection<{ event: Event | Event[] }>('outbox')
      const entries = await outbox.find().sort({ at: 1, _id: 1 }).toArray()
      const events = entries.flatMap(({ event }) => event)
      return events.filter(({ type, subject }) => type === 'webhook.updated' && subject === id).map(({ data }) => data)
    }
    return { change, logged, stored: () => test.tenant.webhooks.get(id, 'webhook') }
  }

  it('names the headers if only a value changed', async () => {
    const { change, logged } = await created({ headers: { 'x-key': 'one' } })
    await change({ headers: { 'x-key': 'two' } })
    await change({ headers: { 'x-key': null, 'x-more': 'three' } })
    assert.deepEqual(
      (await logged()).map(({ changed, changes }) => ({ changed, changes })),
      [
        { changed: ['headers'], changes: {} },
        { changed: ['headers'], changes: { headers: { from: ['x-key'], to: ['x-key', 'x-more'] } } },
      ],
    )
  })

  it('says what is shown of switching it on and off', async () => {
    const { change, logged } = await created()
    await change({ active: false })
    await change({ active: true })
    const fields = ['active', 'disabledAt', 'disabledReason']
    assert.deepEqual(
      (await logged()).map(({ changed }) => changed),
      [fields, fields],
    )
  })

  it('to what it is writes and publishes nothing', async () => {
    for (const active of [true, false]) {
      const { change, logged, stored } = await created({ active, headers: { 'x-key': 'one' } })
      const { url, ...before } = await stored()
      await change({ name: 'n', url, eventTypes: [], headers: { 'x-key': null }, active })
      assert.deepEqual(await stored(), { url, ...before })
      assert.deepEqual(await logged(), [])
    }
  })
})
