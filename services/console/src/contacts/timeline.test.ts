import assert from 'node:assert/strict'
import { it } from 'node:test'
import { byDay, entryKey, filterOf, KINDS, linksOf } from './timeline.ts'

it('every type that the timeline can be narrowed to has a sentence', () => {
  const silent = Object.values(KINDS)
    .flat()
    .filter(type => entryKey(type) === 'other')
  assert.deepEqual(silent, [])
})

it('entries stand by their day, in the order they come in', () => {
  const at = (day: number, hour: number) => new Date(2026, 2, day, hour).toISOString()
  const days = byDay([{ at: at(2, 9) }, { at: at(2, 0) }, { at: at(1, 23) }])
  assert.deepEqual(
    days.map(({ day, entries }) => [day.getDate(), entries.length]),
    [
      [2, 2],
      [1, 1],
    ],
  )
})

it('entries of the account include what the person did with it', () => {
  assert.deepEqual(filterOf('lists'), { type: { $in: ['contact.added_to_list', 'contact.removed_from_list'] } })
  assert.deepEqual((filterOf('account').$or as unknown[])[1], { subject: 'user' })
})

it('an entry is linked with what it names, and with nothing else', () => {
  const list = { _id: 'a', name: 'Newsletter' }
  assert.deepEqual(linksOf({ list, importJob: 'b', row: 3, collection: 'c', changes: [] }), {
    list,
    importJob: 'b',
    row: 3,
    collection: 'c',
  })
  assert.deepEqual(linksOf({ list: 'a', importJob: null }), {})
})
