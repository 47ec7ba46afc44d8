import assert from 'node:assert/strict'
import { it } from 'node:test'
import { chipsOf, withChip } from './filter-chips.ts'
import type { Conditions } from './list-search.ts'

const FIELDS = { state: 'state', who: 'actor.id', when: { daysOf: 'at' } } as const

it('chips come back from the filter that they make', () => {
  let filter: Conditions = {}
  const chips = [
    { name: 'state', value: 'failed' },
    { name: 'who', value: 'me' },
    { name: 'when', value: '30' },
  ] as const
  for (const { name, value } of chips) filter = withChip(FIELDS, filter, name, value)!
  assert.deepEqual(filter, { state: 'failed', 'actor.id': 'me', at: { $gte: 'now-30d' } })
  assert.deepEqual(chipsOf(FIELDS, filter), chips)
  assert.deepEqual(withChip(FIELDS, filter, 'when', undefined), { state: 'failed', 'actor.id': 'me' })
})

it('shows no chip for conditions of another form, and no filter is left without any', () => {
  assert.deepEqual(chipsOf(FIELDS, { state: { $in: ['failed'] }, at: { $gte: '2026-01-01' }, other: 'x' }), [])
  assert.equal(withChip(FIELDS, { state: 'failed' }, 'state', undefined), undefined)
})
