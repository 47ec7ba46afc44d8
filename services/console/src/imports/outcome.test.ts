import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ImportResult } from '@rollcall/sdk'
import { isUnfinished, partsOf, reasonsOf, stateOf } from './outcome.ts'

const result = { total: 15, created: 5, updated: 4, unchanged: 3, skipped: 2, failed: 1, removed: 0 } as ImportResult

it('the parts of an import add up to its rows', () => {
  const sum = partsOf('import', result).reduce((total, { count }) => total + count, 0)
  assert.equal(sum, result.total)
})

it('an undo deletes, restores and keeps', () => {
  const undone = partsOf('undo', { ...result, removed: 7 })
  assert.deepEqual(
    undone.map(({ name, count }) => [name, count]),
    [
      ['removed', 7],
      ['restored', 4],
      ['kept', 2],
    ],
  )
})

it('a job is cancelled or undone rather than failed or completed', () => {
  assert.equal(stateOf({ state: 'failed', failedReason: 'cancelled', undoneBy: null }).name, 'cancelled')
  assert.equal(stateOf({ state: 'completed', failedReason: null, undoneBy: 'x' }).name, 'undone')
  assert.equal(stateOf({ state: 'active', failedReason: null, undoneBy: null }).name, 'active')
  assert.ok(isUnfinished({ state: 'active' }))
  assert.ok(!isUnfinished({ state: 'failed' }))
})

it('reasons are counted by column, the most frequent first', () => {
  const errors = [
    ['Seats', 'Seats must be a number'],
    ['Email', 'Email must be an email address'],
    ['Email', 'Email must be an email address'],
    [null, 'a NUL character'],
  ].map(([column, message]) => ({ column, message }) as ImportResult['errors'][number])
  assert.deepEqual(reasonsOf(errors), [
    { column: 'Email', reason: 'must be an email address', count: 2 },
    { column: 'Seats', reason: 'must be a number', count: 1 },
    { column: null, reason: 'a NUL character', count: 1 },
  ])
})
