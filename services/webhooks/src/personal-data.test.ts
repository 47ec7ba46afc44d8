import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DeliveryDetailsJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { personOf } from '@rollcall/service'
import { jsonOf } from '@rollcall/testing/calls'
import { type TestContext, testContext } from '../test/context.ts'
import { deliveries } from './deliveries/deliveries.ts'
import type { Delivery } from './deliveries/delivery.model.ts'
import { personalData } from './personal-data.ts'

const ADDRESS = 'one@example.com'

describe('the erasure of a contact', () => {
  let test: TestContext
  before(async () => {
    test = await testContext()
  })
  after(() => test?.stop())

  /** Adds an event about a contact and a delivery that the endpoint refused with the address. */
  const addRefused = async () => {
    test.receiver.answer({ status: 422, body: `${ADDRESS} is unknown` })
    const event = await test.addEvent({ data: JSON.stringify({ contact: { email: ADDRESS } }) })
    const delivery = await test.addDelivery(await test.addWebhook(), event)
    await deliveries(test.context).replayDelivery({ id: String(delivery._id) }, test.call())
    return { event, delivery }
  }
  const erase = async (contactId: string) => {
    const { organizationId } = test
    const person = personOf({ organizationId, contactId, emailKeys: [ADDRESS], names: [] })
    for (const data of Object.values(personalData))
      if (data !== 'none' && typeof data.erase === 'function') await data.erase(test.context, person)
  }
  const shown = async ({ _id }: Delivery) =>
    jsonOf<DeliveryDetailsJson>(deliveries(test.context).getDelivery({ id: String(_id) }, test.call()))

  it('blanks what endpoints answered, and deliveries are still shown and sent again', async () => {
    const { event, delivery } = await addRefused()
    assert.match((await shown(delivery)).lastError!, /one@example/)
    await erase(event.subject.id)
    const erased = await shown(delivery)
    const [attempt] = erased.attempts
    assert.deepEqual([attempt!.responseHeaders, attempt!.responseBody], [{}, ''])
    const error = 'the endpoint answered 422'
    assert.deepEqual([erased.lastStatus, erased.lastError, attempt!.error], [422, error, error])
    assert.doesNotMatch(JSON.stringify(erased), /one@example/)
    test.receiver.answer({ status: 204 })
    const { data } = await deliveries(test.context).replayDelivery({ id: String(delivery._id) }, test.call())
    assert.equal((JSON.parse(data.toString()) as DeliveryDetailsJson).state, 'delivered')
  })

  it('leaves the failures of other events as they are', async () => {
    const { delivery } = await addRefused()
    await test.tenant.events.updateOne({ _id: delivery.event.id }, { $set: { data: '{}' } })
    await erase('f'.repeat(24))
    assert.match((await shown(delivery)).lastError!, /one@example/)
  })

  it('of an older release is shown', async () => {
    const { delivery } = await addRefused()
    await test.tenant.attempts.updateOne({ delivery: delivery._id }, { $set: { responseHeaders: '' } })
    assert.deepEqual((await shown(delivery)).attempts[0]!.responseHeaders, {})
  })
})
