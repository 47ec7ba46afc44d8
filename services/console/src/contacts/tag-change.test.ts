import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withoutChange } from './tag-change.ts'

it('takes back one change of tags and keeps later ones', () => {
  assert.deepEqual(withoutChange(['a', 'b', 'c'], { before: ['a'], after: ['a', 'b'] }), ['a', 'c'])
  assert.deepEqual(withoutChange(['c'], { before: ['a'], after: [] }), ['c', 'a'])
  assert.deepEqual(withoutChange(['a', 'b'], { before: ['a'], after: ['a', 'b'] }), ['a'])
})
