import assert from 'node:assert/strict'
import { it } from 'node:test'
import { barsOf, queryOf, sumOf, timeOf } from './clicks.ts'
import { stateOf } from './state.ts'

const NOW = Date.parse('2026-03-31T12:00:00.000Z')

it('a link is off, expired or on', () => {
  const expiresAt = new Date(NOW).toISOString()
  assert.equal(stateOf({ active: true, expiresAt: null }, NOW), 'on')
  assert.equal(stateOf({ active: true, expiresAt }, NOW - 1), 'on')
  assert.equal(stateOf({ active: true, expiresAt }, NOW), 'expired')
  assert.equal(stateOf({ active: false, expiresAt }, NOW), 'off')
})

it('bars and sums count each click once', () => {
  const points = [
    { at: 'a', clicks: 5, unique: 2 },
    { at: 'b', clicks: 0, unique: 0 },
  ]
  assert.deepEqual(sumOf(points), { clicks: 5, unique: 2 })
  assert.deepEqual(
    barsOf(points).map(({ parts }) => parts.map(({ count }) => count)),
    [
      [3, 2],
      [0, 0],
    ],
  )
})

it('a year is twelve months, also from a long month', () =>
  assert.deepEqual(queryOf('year', NOW), { from: '2025-05-01T12:00:00.000Z', interval: 'month' }))

it('hours are those of the person, days those of UTC', t => {
  const { TZ } = process.env
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  process.env.TZ = 'Asia/Kolkata'
  const at = '2026-03-31T20:00:00.000Z'
  assert.equal(timeOf({ at }, 'day', 'de'), '1. Apr., 1:30')
  assert.equal(timeOf({ at }, 'month', 'de'), '31. März')
  assert.equal(timeOf({ at }, 'year', 'de'), 'März 2026')
})
