import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Event } from '@rollcall/runtime'
import { Types } from 'mongoose'
import { testContext } from '../../test/context.ts'
import type { Context } from '../context.ts'
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
})

function clickOf(organization: string, subject: string): Event {
  const id = String(new Types.ObjectId())
  const time = new Date().toISOString()
  return { id, type: 'link.clicked', organization, subject, time, source: 'content', data: {} } as Event
}
