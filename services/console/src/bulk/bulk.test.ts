import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { BulkJob } from '@rollcall/sdk'
import { ACTIONS, type ActionName, actionOf, callsOf, NO_VALUES } from './action.ts'
import { isCancellable, partsOf, stateOf, undoableUntil } from './job-state.ts'
import { filterOf, MAX_IDS } from './selection.ts'

const ENTERED = { tags: ['vip'], lists: ['a'], attribute: 'plan', value: 'pro', reason: ' Asked to ' }
const JOB: BulkJob = {
  _id: 'a',
  id: 'a',
  kind: 'change',
  dryRun: false,
  state: 'completed',
  progress: 100,
  result: { matched: 5, changed: 3, unchanged: 1, failed: 1, notFound: 0, sample: [], errors: [], services: [] },
  failedReason: null,
  change: { addTags: ['vip'] },
  filter: null,
  undoes: null,
  undoneBy: null,
  createdBy: { kind: 'user', id: 'u', name: 'Ada' },
  finishedAt: '2026-03-01T12:00:00.000Z',
  createdAt: '2026-03-01T11:00:00.000Z',
  updatedAt: '2026-03-01T12:00:00.000Z',
}
const DAY_MS = 24 * 3_600_000
const FINISHED = Date.parse(JOB.finishedAt!)

it('each action makes the change that it names, of what was entered', () => {
  const changes = Object.fromEntries(
    Object.keys(ACTIONS).map(name => [name, actionOf(name as ActionName).changeOf?.(ENTERED)]),
  )
  assert.deepEqual(changes, {
    addTags: { addTags: ['vip'] },
    removeTags: { removeTags: ['vip'] },
    addToLists: { addToLists: ['a'] },
    removeFromLists: { removeFromLists: ['a'] },
    setAttribute: { attributes: { plan: 'pro' } },
    unsubscribe: { unsubscribed: true },
    block: { blocked: true, blockedReason: 'Asked to' },
    unblock: { blocked: false },
    delete: undefined,
  })
  assert.deepEqual(actionOf('setAttribute').changeOf?.({ ...ENTERED, value: undefined }), {
    attributes: { plan: null },
  })
  assert.deepEqual(actionOf('block').changeOf?.(NO_VALUES), { blocked: true })
})

it('an action waits for what it cannot do without', () => {
  const waiting = Object.keys(ACTIONS).filter(name => !actionOf(name as ActionName).isReady(NO_VALUES))
  assert.deepEqual(waiting, ['addTags', 'removeTags', 'addToLists', 'removeFromLists', 'setAttribute'])
})

it('cancelling and undoing a job take what starting it takes', () => {
  assert.deepEqual(callsOf(JOB), ['bulk.changeContacts'])
  const change = { addToLists: ['a'], removeFromLists: ['b'] }
  assert.deepEqual(callsOf({ kind: 'change', change }), [
    'bulk.changeContacts',
    'lists.addMembers',
    'lists.removeMembers',
  ])
  assert.deepEqual(callsOf({ kind: 'delete', change: null }), ['bulk.deleteContacts'])
})

it('a job can be cancelled until it is finished, but not an erasure', () => {
  assert.equal(isCancellable({ ...JOB, state: 'waiting' }), true)
  assert.equal(isCancellable(JOB), false)
  assert.equal(isCancellable({ ...JOB, kind: 'erase', state: 'active' }), false)
})

it('a job can be undone for seven days, once, if it changed anything', () => {
  const last = new Date(FINISHED + 7 * DAY_MS)
  assert.deepEqual(undoableUntil(JOB, FINISHED), last)
  assert.equal(undoableUntil(JOB, last.getTime()), undefined)
  const nothing = { ...JOB.result, changed: 0 }
  for (const change of [
    { undoneBy: 'b' },
    { dryRun: true },
    { kind: 'undo' as const },
    { kind: 'erase' as const },
    { finishedAt: null },
    { result: nothing },
  ])
    assert.equal(undoableUntil({ ...JOB, ...change }, FINISHED), undefined, JSON.stringify(change))
})

it('the parts of an outcome are named by the job, and add up to what matched', () => {
  const names = (job: Partial<BulkJob>) => partsOf({ ...JOB, ...job }).map(({ name }) => name)
  assert.deepEqual(names({}), ['changed', 'unchanged', 'failed'])
  assert.deepEqual(names({ dryRun: true }), ['willChange', 'willStay', 'willFail'])
  assert.deepEqual(names({ kind: 'delete', dryRun: true }), ['willBeDeleted', 'willFail'])
  assert.deepEqual(names({ kind: 'undo' }), ['restored', 'leftAlone', 'failed'])
  assert.equal(
    partsOf(JOB).reduce((sum, { count }) => sum + count, 0),
    JOB.result.matched,
  )
})

it('a cancelled or undone job is called so, whatever its state', () => {
  assert.equal(stateOf(JOB).name, 'completed')
  assert.equal(stateOf({ ...JOB, undoneBy: 'b' }).name, 'undone')
  assert.equal(stateOf({ ...JOB, state: 'failed', failedReason: 'cancelled' }).name, 'cancelled')
})

it('a selection by ids is a filter as long as one takes them', () => {
  assert.deepEqual(filterOf({ contactIds: ['a', 'b'] }), { _id: { $in: ['a', 'b'] } })
  assert.deepEqual(filterOf({ filter: { tags: 'vip' } }), { tags: 'vip' })
  assert.equal(filterOf({ contactIds: Array.from({ length: MAX_IDS + 1 }, String) }), undefined)
})
