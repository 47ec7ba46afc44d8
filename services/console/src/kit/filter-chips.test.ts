import assert from 'node:assert/strict'
import { it } from 'node:test'
import { chipsOf, withChip, without } from './filter-chips.ts'
import type { Conditions } from './list-search.ts'

const FIELDS = { state: 'state', who: 'actor.id', when: { timeOf: 'at' } } as const

it('chips come back from the filter that they make', () => {
  let filter: Conditions = {}
  const chips = [
    { name: 'state', value: 'failed' },
    { name: 'who', value: 'me' },
    { name: 'when', value: '30' },
  ] as const
  for (const { name, value } of chips) filter = withChip(FIELDS, filter, name, value)!
  assert.deepEqual(filter, { state: 'failed', 'actor.id': 'me', at: { $gte: 'now-30d' } })
  assert.deepEqual(chipsOf(FIELDS, filter), { chips, rest: [] })
  assert.deepEqual(withChip(FIELDS, filter, 'when', undefined), { state: 'failed', 'actor.id': 'me' })
})

it('a time comes back with its start, its end, or both', () => {
  const [from, to] = ['2026-11-01T00:00:00.000Z', '2026-11-05T23:59:59.999Z']
  for (const [value, at] of [
    [`${from}/${to}`, { $gte: from, $lte: to }],
    [`${from}/`, { $gte: from }],
    [`/${to}`, { $lte: to }],
  ] as const) {
    assert.deepEqual(withChip(FIELDS, {}, 'when', value), { at })
    assert.deepEqual(chipsOf(FIELDS, { at }).chips, [{ name: 'when', value }])
  }
})

it('names the conditions that no chip shows, and no filter is left without any', () => {
  const filter = { state: { $in: ['failed'] }, at: { $gt: '2026-01-01' }, other: 'x', 'actor.id': 'me' }
  assert.deepEqual(chipsOf(FIELDS, filter), { chips: [{ name: 'who', value: 'me' }], rest: ['state', 'at', 'other'] })
  for (const at of [{ $gte: 'soon' }, { $gte: 'now-2d', $lte: 'now-1d' }, {}, null, 'now'])
    assert.deepEqual(chipsOf(FIELDS, { at }), { chips: [], rest: ['at'] })
  assert.equal(withChip(FIELDS, { state: 'failed' }, 'state', undefined), undefined)
  assert.deepEqual(without(filter, ['state', 'at', 'other']), { 'actor.id': 'me' })
})
