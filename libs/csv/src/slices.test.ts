import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { createSlices } from './slices.ts'

const WORKERS = 10

/** Returns how many concurrent tasks ran in the busiest iteration of the event loop. */
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
  await Promise.all(Array.from({ length: WORKERS }, work))
  done = true
  await counting
  return Math.max(...resumed.map(each => resumed.filter(other => other === each).length))
}

describe('slices of long work', () => {
  it('never share an iteration of the event loop, however many tasks run', async () =>
    assert.equal(await busiestRound(createSlices()), 1))

  it('share one if each task yields only for itself', async () =>
    assert.equal(await busiestRound(() => nextRound()), WORKERS))

  it('continue at once within a slice', () => assert.equal(createSlices()(), undefined))
})
