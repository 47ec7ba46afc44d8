import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { personOf } from '@rollcall/service'
import { erasedEvent, isAbout } from './erased-event.ts'
import type { LoggedEvent } from './logged-event.model.ts'

describe('an event of the log', () => {
  it('is about a person whose address begins a line', () => {
    const ids = { organizationId: 'a'.repeat(24), contactId: 'b'.repeat(24) }
    const bob = personOf({ ...ids, emailKeys: ['bob@example.com'], names: [] })
    const event = {
      subject: { kind: 'entry', id: 'c'.repeat(24), name: null },
      actor: { kind: 'system', id: null, name: 'form' },
      data: JSON.stringify({ entry: { id: 'c'.repeat(24), values: { message: 'Regards\nbob@example.com' } } }),
    } as LoggedEvent
    assert.equal(isAbout(event, bob), true)
    assert.deepEqual(JSON.parse(erasedEvent(event, bob).data), { entry: { id: 'c'.repeat(24), values: {} } })
  })
})
