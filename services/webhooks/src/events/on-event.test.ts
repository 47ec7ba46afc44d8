import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Actor } from '@rollcall/rpc'
import type { Event } from '@rollcall/runtime'
import { ERASED } from '@rollcall/service'
import { Types } from 'mongoose'
import { testContext } from '../../test/context.ts'
import type { Context } from '../context.ts'
import { webhooks } from '../endpoints/webhooks.ts'
import { dataOf } from './logged-event.model.ts'
import { onEvent } from './on-event.ts'

describe('the event log', () => {
  it('has no mail of the installation to accounts', async () => {
    const touched = new Error('the database was touched')
    const collections = {
      of: () => {
        throw touched
      },
    }
    const { every } = onEvent({ collections } as unknown as Context)
    const logs = (type: string, data: object) => every([{ type, data } as Event])
    for (const type of ['email.queued', 'email.sent', 'email.bounced', 'email.failed']) {
      await logs(type, { kind: 'account' })
      await logs(type, {}) // as older versions published it
      await assert.rejects(logs(type, { kind: 'transactional' }), touched)
    }
    await assert.rejects(logs('email.domain.verified', {}), touched)
  })

  it('gives a nameless event the name of the last one about its subject, and reads no other', async t => {
    const { context, tenant, organizationId, addEvent, stop } = await testContext()
    t.after(stop)
    const subject = { kind: 'link', id: String(new Types.ObjectId()), name: 'Former' }
    for (const [minutes, name] of [
      [3, 'Former'],
      [1, 'Spring'],
      [2, 'Former'],
    ] as const)
      await addEvent({
        type: 'link.clicked',
        subject: { ...subject, name },
        at: new Date(Date.now() - minutes * 60_000),
      })
    t.mock.method(context.collections, 'of', () => tenant)
    const asked = t.mock.method(tenant.events, 'findOne')
    const aggregated = t.mock.method(tenant.events, 'aggregate')
    const clicks = Array.from({ length: 3 }, () => clickOf(organizationId, subject.id))
    await onEvent(context).every(clicks)
    assert.deepEqual(
      asked.mock.calls.map(({ arguments: [filter, { sort } = {}] }) => ({ filter, sort })),
      [{ filter: { 'subject.id': subject.id }, sort: { at: -1, _id: -1 } }],
    )
    assert.equal(aggregated.mock.callCount(), 0)
    const logged = await tenant.events.find({ _id: { $in: clicks.map(({ id }) => id) } })
    assert.deepEqual(
      logged.map(event => event.subject.name),
      ['Spring', 'Spring', 'Spring'],
    )
  })

  it('blanks the name of a deleted user in events that arrive later', async t => {
    const { context, tenant, organizationId, stop } = await testContext()
    t.after(stop)
    const [ada, bob] = [String(new Types.ObjectId()), String(new Types.ObjectId())]
    const by = (id: string, name: string): Event => {
      const origin = { actor: { kind: 'user', id, name }, credential: null, ip: null, requestId: null }
      const event = clickOf(organizationId, String(new Types.ObjectId()))
      return { ...event, data: { ...event.data, actor: origin.actor }, origin } as Event
    }
    const deleted = { ...clickOf(organizationId, ada), type: 'user.deleted' } as Event
    const late = [by(ada, 'Ada'), by(bob, 'Bob')]
    await onEvent(context).every([deleted])
    await onEvent(context).every(late)
    const logged = await Promise.all(late.map(({ id }) => tenant.events.get(id, 'event')))
    const names = logged.map(({ actor }) => actor.name)
    assert.deepEqual(names, [ERASED, 'Bob'])
    assert.deepEqual(
      logged.map(event => (dataOf(event).actor as Actor).name),
      [ERASED, 'Bob'],
    )
    assert.ok(!JSON.stringify(logged).includes('Ada'))
  })

  it('schedules no old event for an endpoint that was not there or off', async t => {
    const { context, tenant, organizationId, addWebhook, call, stop } = await testContext()
    t.after(stop)
    const days = (count: number) => new Date(Date.now() - count * 24 * 3_600_000)
    const [old, created] = [await addWebhook({ createdAt: days(3) }), await addWebhook()]
    const off = await addWebhook({ createdAt: days(3), active: false })
    await webhooks(context).updateWebhook({ id: String(off._id), active: true }, call())
    const event = (time: Date) => ({
      ...clickOf(organizationId, String(new Types.ObjectId())),
      time: time.toISOString(),
    })
    const endpointsOf = async ({ id }: Event) => {
      const found = await tenant.deliveries.find({ endpoint: { $in: [old._id, created._id, off._id] }, 'event.id': id })
      return found.map(({ endpoint }) => String(endpoint)).sort()
    }
    const [redelivered, expired, fresh] = [event(days(2)), event(days(400)), event(new Date())]
    await onEvent(context).every([redelivered, expired, fresh])
    assert.deepEqual(await endpointsOf(redelivered), [String(old._id)])
    assert.deepEqual(await endpointsOf(expired), [])
    assert.deepEqual(await endpointsOf(fresh), [old, created, off].map(({ _id }) => String(_id)).sort())
  })
})

function clickOf(organization: string, subject: string): Event {
  const id = String(new Types.ObjectId())
  const time = new Date().toISOString()
  return { id, type: 'link.clicked', organization, subject, time, source: 'content', data: {} } as Event
}
