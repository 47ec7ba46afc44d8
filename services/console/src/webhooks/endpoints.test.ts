import assert from 'node:assert/strict'
import { it } from 'node:test'
import { groupsOf, withTypes } from './event-groups.ts'
import { headersOf } from './own-headers.ts'
import { stateOf } from './state.ts'
import { barsOf, rateOf, sumOf } from './stats.ts'

const at = (hour: number) => `2026-01-01T${String(hour).padStart(2, '0')}:00:00.000Z`

it('an endpoint is off for a reason, or fails, or is on', () => {
  const on = { active: true, disabledReason: null, failingSince: null }
  assert.equal(stateOf(on), 'on')
  assert.equal(stateOf({ ...on, failingSince: at(0) }), 'failing')
  assert.equal(stateOf({ ...on, active: false, disabledReason: 'user' }), 'off')
  assert.equal(stateOf({ ...on, active: false, disabledReason: 'failing', failingSince: at(0) }), 'stopped')
  assert.equal(stateOf({ ...on, active: false, disabledReason: 'gone' }), 'gone')
})

it('hours become bars that lose no delivery', () => {
  const hours = Array.from({ length: 7 }, (_, hour) => ({ at: at(hour), delivered: 1, failed: hour }))
  const bars = barsOf(hours, 3)
  assert.deepEqual(
    bars.map(bar => [bar.at, bar.delivered, bar.failed]),
    [
      [at(0), 3, 3],
      [at(3), 3, 12],
      [at(6), 1, 6],
    ],
  )
  assert.deepEqual(sumOf(bars), sumOf(hours))
  assert.equal(rateOf({ delivered: 3, failed: 1 }), 0.75)
  assert.equal(rateOf(sumOf([])), undefined)
})

it('types stand under their record, and are found by type or description', () => {
  const types = [
    { type: 'email.domain.verified', description: 'A domain' },
    { type: 'list.created', description: 'A list was created.' },
    { type: 'list.deleted', description: 'A list was deleted.' },
  ]
  assert.deepEqual(
    groupsOf(types).map(({ name, types: { length } }) => [name, length]),
    [
      ['email.domain', 1],
      ['list', 2],
    ],
  )
  assert.deepEqual(
    groupsOf(types, ' was Deleted').flatMap(group => group.types.map(({ type }) => type)),
    ['list.deleted'],
  )
  assert.deepEqual(withTypes(['b', 'd'], ['a', 'b'], true), ['a', 'b', 'd'])
  assert.deepEqual(withTypes(['a', 'b', 'd'], ['a', 'b'], false), ['d'])
})

it('a stored header keeps its value unless another is given', () => {
  const lines = [
    { name: 'x-kept', value: '', isStored: true },
    { name: 'x-new', value: 'v', isStored: true },
    { name: ' x-added ', value: 'w', isStored: false },
    { name: ' ', value: 'lost', isStored: false },
  ]
  assert.deepEqual(headersOf(lines), { 'x-kept': null, 'x-new': 'v', 'x-added': 'w' })
})
