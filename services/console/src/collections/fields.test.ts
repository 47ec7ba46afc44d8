import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fieldOf, moved, newDraft } from './fields.ts'

it('a new field gets the key of its name, a stored one keeps its own', () => {
  assert.equal(fieldOf({ ...newDraft(), name: 'Größe in cm' }).slug, 'gro_e_in_cm')
  const choice = { required: false, default: null, options: [], unique: false }
  const stored = { slug: 'size', name: 'Size', type: 'number' as const, ...choice }
  assert.equal(fieldOf({ ...newDraft(stored), name: 'Width' }).slug, 'size')
})

it('choices belong to choices only, and what cannot be unique is not', () => {
  const draft = { ...newDraft(), name: 'Size', options: ['S'], unique: true }
  assert.deepEqual(fieldOf(draft), {
    slug: 'size',
    name: 'Size',
    type: 'string',
    required: false,
    options: [],
    unique: true,
  })
  assert.deepEqual(fieldOf({ ...draft, type: 'enum' }).options, ['S'])
  assert.equal(fieldOf({ ...draft, type: 'enum' }).unique, false)
  assert.equal(fieldOf({ ...draft, default: 'M' }).unique, false)
})

it('fields move past each other', () => {
  const [first, second] = [newDraft(), newDraft()]
  assert.deepEqual(moved([first, second], 0, 1), [second, first])
  assert.deepEqual(moved([first, second], 1, -1), [second, first])
})
