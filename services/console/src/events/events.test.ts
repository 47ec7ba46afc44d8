import assert from 'node:assert/strict'
import { it } from 'node:test'
import { changedFields, changesOf } from './changes.ts'
import { placeOf } from './subject.ts'

const ID = 'a'.repeat(24)

it('a record leads to its screen, a role by its name', () => {
  assert.deepEqual(placeOf({ kind: 'contact', id: ID, name: null }), { to: '/contacts/$id', params: { id: ID } })
  assert.deepEqual(placeOf({ kind: 'role', id: ID, name: 'editor' }), { to: '/roles/$id', params: { id: 'editor' } })
  assert.equal(placeOf({ kind: 'role', id: ID, name: null }), undefined)
  assert.deepEqual(placeOf({ kind: 'suppression', id: ID, name: null }), { to: '/suppressions' })
  assert.equal(placeOf({ kind: 'session', id: ID, name: null }), undefined)
})

it('changes are read as events carry them, nothing where they do not', () => {
  assert.deepEqual(changesOf({ changes: { name: { from: 'A', to: 'B' } } }), [
    { field: 'name', before: 'A', after: 'B' },
  ])
  assert.deepEqual(changesOf({ changes: null }), [])
  assert.deepEqual(changesOf({}), [])
  assert.deepEqual(changedFields({ changed: ['name'] }), ['name'])
  assert.deepEqual(changedFields({}), [])
})
