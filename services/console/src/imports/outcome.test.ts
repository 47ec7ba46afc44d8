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

it('reasons are counted, the most frequent first', () => {
  const errors = ['a', 'b', 'b'].map(code => ({ code }) as ImportResult['errors'][number])
  assert.deepEqual(reasonsOf(errors), [
    { code: 'b', count: 2 },
    { code: 'a', count: 1 },
  ])
})
