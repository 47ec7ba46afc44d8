import { setImmediate as nextRound } from 'node:timers/promises'

/** A slice of long work is over after so long. */
const sliceMs = 5

let last: Promise<void> = Promise.resolve()

/** Waits for a round of the event loop that no other caller has: however many read files, one slice runs in each. */
function nextSlice(): Promise<void> {
  last = last.then(() => nextRound())
  return last
}

/** Work that gives way: `await giveWay()` goes on at once until a slice is over, and then with the next one. */
export function createSlices(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < sliceMs) return undefined
    return nextSlice().then(() => {
      since = performance.now()
    })
  }
}
