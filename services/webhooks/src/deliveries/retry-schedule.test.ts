import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pauseMs } from './retry-schedule.ts'

const plain = { retryAfterMs: null, isOverloaded: false }
const HOUR = 3_600_000
const middle = 0.5

describe('the retry schedule', () => {
  it('makes ten attempts over 75 h 35 min 5 s, as the example of Standard Webhooks', () => {
    const pauses = Array.from({ length: 10 }, (_, index) => pauseMs(index + 1, plain, undefined, middle))
    assert.equal(pauses[9], undefined)
    const total = pauses.slice(0, 9).reduce<number>((sum, pause) => sum + pause!, 0)
    assert.equal(total, 75 * HOUR + 35 * 60_000 + 5_000)
  })

  it('varies each pause by a fifth', () => {
    assert.deepEqual([pauseMs(1, plain, undefined, 0), pauseMs(1, plain, undefined, 1)], [4_000, 6_000])
  })

  it('honours Retry-After up to twice the pause', () => {
    const asked = (retryAfterMs: number) => pauseMs(2, { ...plain, retryAfterMs }, undefined, middle)
    assert.deepEqual([asked(1_000), asked(400_000), asked(4_000_000)], [300_000, 400_000, 600_000])
  })

  it('waits a minute at least for an endpoint that is overloaded', () => {
    const overloaded = { retryAfterMs: 1_000, isOverloaded: true }
    assert.deepEqual(
      [pauseMs(1, overloaded, undefined, middle), pauseMs(2, overloaded, undefined, middle)],
      [60_000, 300_000],
    )
  })
})
