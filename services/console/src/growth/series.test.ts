import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { queryOf, sumsOf, ticksOf } from './series.ts'

describe('the growth of a period', () => {
  const point = { at: '2026-06-01T00:00:00.000Z', blocked: 0 }
  const points = [
    { ...point, created: 5, unsubscribed: 1, deleted: 0, total: 105 },
    { ...point, created: 0, unsubscribed: 2, deleted: 3, total: 102 },
  ]

  it('begins so many days ago, with today', () => {
    const now = Date.parse('2026-06-30T12:00:00.000Z')
    assert.deepEqual(queryOf('month', now), { from: '2026-06-01T12:00:00.000Z', interval: 'day' })
    assert.equal(queryOf('year', now).interval, 'week')
  })

  it('is summed up', () => assert.deepEqual(sumsOf(points), { created: 5, unsubscribed: 3, deleted: 3, net: 2 }))

  it('is shown where it moves', () => {
    assert.deepEqual(ticksOf(points), [100, 102, 104, 106])
    assert.deepEqual(ticksOf([{ total: 0 }]), [0, 1])
    assert.deepEqual(ticksOf([{ total: 5000 }, { total: 12_400 }]), [0, 5000, 10_000, 15_000])
  })
})
