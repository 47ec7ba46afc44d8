import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DeliveryDetailsJson } from '@rollcall/protos/gen/webhooks-v1.ts'
import { personOf } from '@rollcall/service'
import { jsonOf } from '@rollcall/testing/calls'
import { type TestContext, testContext } from '../test/context.ts'
import type { Tenant } from './collections.ts'
import type { Context } from './context.ts'
import { deliver } from './deliveries/deliver.job.ts'
import { deliveries } from './deliveries/deliveries.ts'
import type { Delivery } from './deliveries/delivery.model.ts'
import { personalData } from './personal-data.ts'

const ADDRESS = 'one@example.com'
const steps = Object.values(personalData).flatMap(data =>
  data !== 'none' && typeof data.erase === 'function' ? [data.erase] : [],
)

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
  /** Runs some of the steps of an erasure, all by default. */
  const erase = async (contactId: string, from = 0, to = steps.length) => {
    const { organizationId } = test
    const person = personOf({ organizationId, contactId, emailKeys: [ADDRESS], names: [] })
    for (const step of steps.slice(from, to)) await step(test.context, person)
  }
  const shown = async ({ _id }: Delivery) =>
    jsonOf<DeliveryDetailsJson>(deliveries(test.context).getDelivery({ id: String(_id) }, test.call()))

  /** Returns the context, which calls a function before each operation of the database, with the operation's number. */
  const observed = (before: (operation: number, name: string) => Promise<void>): Context => {
    const { collections } = test.context
    let operations = 0
    const observedScope = (scope: object, collection: string) =>
      new Proxy(scope, {
        get(_, key) {
          const operation = scope[key as never] as unknown
          if (typeof operation !== 'function' || key === 'stream') return operation
          return async (...args: unknown[]) => {
            await before(operations++, `${collection}.${String(key)}`)
            return operation(...args)
          }
        },
      })
    const observedTenant = (tenant: Tenant) =>
      new Proxy(tenant, { get: (_, name) => observedScope(tenant[name as never], String(name)) })
    return { ...test.context, collections: { ...collections, of: (...of) => observedTenant(collections.of(...of)) } }
  }

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
  describe('during an attempt', () => {
    const CONTACT = 'c'.repeat(24)

    /** Adds an event that names the person by the address only, and its delivery. */
    const addDelivery = async () => {
      const data = JSON.stringify({ suppression: { email: ADDRESS } })
      return test.addDelivery(await test.addWebhook(), await test.addEvent({ type: 'suppression.created', data }))
    }
    /** Returns the context with an endpoint that repeats what it got after something else has happened. */
    const answeringAfter = (happens: () => Promise<void>, context = test.context): Context => ({
      ...context,
      poster: {
        ...context.poster,
        async post({ body }) {
          await happens()
          const echo = JSON.stringify(JSON.parse(String(body)).data)
          return { status: 422, headers: { 'x-echo': echo }, body: echo }
        },
      },
    })
    const stored = async (delivery: Delivery) => {
      const attempts = await test.tenant.attempts.find({ delivery: delivery._id })
      assert.equal(attempts.length, 1)
      return JSON.stringify([attempts, await test.tenant.deliveries.get(delivery._id, 'delivery')])
    }

    it('leaves no answer of the job or a replay', async () => {
      const context = answeringAfter(() => erase(CONTACT))
      const send = (delivery: Delivery) => deliver(context, delivery)
      const replay = ({ _id }: Delivery) => deliveries(context).replayDelivery({ id: String(_id) }, test.call())
      for (const attempt of [send, replay]) {
        const delivery = await addDelivery()
        await attempt(delivery)
        assert.doesNotMatch(await stored(delivery), /one@example/)
        assert.equal((await shown(delivery)).lastError, 'the endpoint answered 422')
      }
    })

    it('leaves no answer, whichever of its steps the attempt ends before', async () => {
      for (let done = 0; done <= steps.length; done++) {
        const delivery = await addDelivery()
        await deliver(
          answeringAfter(() => erase(CONTACT, 0, done)),
          delivery,
        )
        await erase(CONTACT, done)
        assert.doesNotMatch(await stored(delivery), /one@example/, `after ${done} steps`)
      }
    })

    it('leaves no answer, whichever operation of the attempt it comes before', async () => {
      let isErased = true
      for (let at = 0; isErased; at++) {
        isErased = false
        const erasing = observed(async operation => {
          if (operation !== at) return
          isErased = true
          await erase(CONTACT)
        })
        const delivery = await addDelivery()
        await deliver(
          answeringAfter(async () => undefined, erasing),
          delivery,
        )
        if (isErased) assert.doesNotMatch(await stored(delivery), /one@example/, `before operation ${at}`)
        else assert.match(await stored(delivery), /one@example/)
      }
    })

    it('leaves no answer of an attempt that crashes right after it is stored', async () => {
      const crashing = observed(async (_, name) => {
        if (name === 'deliveries.updateOne') throw new Error('crash')
      })
      const delivery = await addDelivery()
      const context = answeringAfter(() => erase(CONTACT), crashing)
      await assert.rejects(deliver(context, delivery), /crash/)
      assert.doesNotMatch(await stored(delivery), /one@example/)
    })
  })

  it('blanks the answers when it is repeated after a crash', async () => {
    const { event, delivery } = await addRefused()
    await test.tenant.events.updateOne({ _id: event._id }, { $set: { data: JSON.stringify({ email: ADDRESS }) } })
    await erase('d'.repeat(24), 0, 1) // the events alone
    assert.match((await shown(delivery)).lastError!, /one@example/)
    await erase('d'.repeat(24))
    assert.doesNotMatch(JSON.stringify(await shown(delivery)), /one@example/)
  })
  it('brings back nobody whom another one erases meanwhile', async () => {
    const actor = { kind: 'user', id: 'a'.repeat(24), name: ADDRESS } as const
    const event = await test.addEvent({ actor, data: JSON.stringify({ email: 'two@example.com' }) })
    let isErased = false
    const meanwhile = observed(async (_, name) => {
      if (name !== 'events.updateOne' || isErased) return
      isErased = true
      await erase('e'.repeat(24))
    })
    const { organizationId } = test
    const two = personOf({ organizationId, contactId: 'f'.repeat(24), emailKeys: ['two@example.com'], names: [] })
    for (const step of steps) await step(meanwhile, two)
    assert.doesNotMatch(JSON.stringify(await test.tenant.events.get(event._id, 'event')), /@example/)
  })
})
