import { setImmediate as nextIteration } from 'node:timers/promises'

/** Duration of a slice of work. */
const SLICE_MS = 5

let last: Promise<void> = Promise.resolve()

/** Waits for an event-loop iteration of its own: each iteration runs one slice, however many reads are active. */
function nextSlice(): Promise<void> {
  last = last.then(() => nextIteration())
  return last
}

/** Returns a function that long work awaits often: it returns at once within a slice, else waits for the next one. */
export function createSlices(): () => Promise<void> | undefined {
  let startedAt = performance.now()
  return () => {
    if (performance.now() - startedAt < SLICE_MS) return undefined
    return nextSlice().then(() => {
      startedAt = performance.now()
    })
  }
}
