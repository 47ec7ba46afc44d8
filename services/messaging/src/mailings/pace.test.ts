import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { paceOf } from './pace.ts'

const MINUTE_MS = 60_000

/** Sends as the rate allows for some time, looking every few milliseconds; returns when each mail went. */
function simulate(perMinute: number, minutes: number, everyMs: number): number[] {
  const sent: number[] = []
  let nextAt: number | null = null
  for (let now = 1_000_000; now < 1_000_000 + minutes * MINUTE_MS; now += everyMs) {
    const pace = paceOf(perMinute, nextAt, now)
    if (pace.count === 0) continue
    sent.push(...Array<number>(pace.count).fill(now))
    nextAt = pace.nextAt(pace.count)
  }
  return sent
}

describe('the pace of a rate', () => {
  for (const perMinute of [1, 7, 60, 599, 600, 6000])
    it(`has at most ${perMinute} in any 60 seconds, evenly, and is used up`, () => {
      const minutes = perMinute < 10 ? 20 : 3
      const sent = simulate(perMinute, minutes, 10)
      for (let first = 0, last = 0; last < sent.length; last++) {
        while (sent[last]! - sent[first]! >= MINUTE_MS) first++
        assert.ok(last - first + 1 <= perMinute, `${last - first + 1} within 60 s`)
      }
      assert.ok(sent.length >= perMinute * minutes * 0.96 - 1, `only ${sent.length}`)
      const gaps = sent.slice(1).map((at, index) => at - sent[index]!)
      assert.ok(
        Math.max(...gaps) <= Math.max(120, (MINUTE_MS / perMinute) * 1.02 + 10),
        `a gap of ${Math.max(...gaps)} ms`,
      )
    })

  it('does not catch up after a pause', () => {
    const { count } = paceOf(50, 0, 10 * MINUTE_MS)
    assert.equal(count, 1)
    const fast = paceOf(6000, 0, 10 * MINUTE_MS)
    assert.ok(fast.count <= 11, `${fast.count} at once`)
  })
})
