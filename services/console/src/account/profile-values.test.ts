import assert from 'node:assert/strict'
import { it } from 'node:test'
import { changesOf, choicesOf } from './profile-values.ts'

it('sends what differs, and null for what was emptied', () => {
  const before = { name: 'Ada', timezone: 'UTC', country: '' }
  assert.deepEqual(changesOf(before, { ...before }), {})
  assert.deepEqual(changesOf(before, { name: 'Ada L', timezone: null, country: '' }), { name: 'Ada L', timezone: null })
})

it('offers the present value, known or not, once', () => {
  assert.deepEqual(choicesOf(['UTC', 'Europe/Berlin'], 'UTC'), ['Europe/Berlin', 'UTC'])
  assert.deepEqual(choicesOf(['UTC'], 'Europe/Kyiv'), ['Europe/Kyiv', 'UTC'])
  assert.deepEqual(choicesOf(['UTC'], null), ['UTC'])
})
