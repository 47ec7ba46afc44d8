import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { createSlices } from './slices.ts'

const workers = 10

/** How many works went on in the busiest round of the event loop, of several that are under way at once. */
async function busiestRound(giveWay: () => Promise<void> | undefined): Promise<number> {
  const resumed: number[] = []
  let round = 0
  let done = false
  const counting = (async () => {
    for (; !done; round++) await nextRound()
  })()
  const work = async () => {
    for (let slice = 0; slice < 3; slice++) {
      const until = performance.now() + 6
      while (performance.now() < until);
      await giveWay()
      resumed.push(round)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  done = true
  await counting
  return Math.max(...resumed.map(each => resumed.filter(other => other === each).length))
}

describe('slices of long work', () => {
  it('never share a round of the event loop, however many works are under way', async () =>
    assert.equal(await busiestRound(createSlices()), 1))

  it('share one where each work waits for itself alone', async () =>
    assert.equal(await busiestRound(() => nextRound()), workers))

  it('go on at once while a slice lasts', () => assert.equal(createSlices()(), undefined))
})
