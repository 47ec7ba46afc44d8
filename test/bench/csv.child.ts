// Reads a small and then a big file in a separate process, and prints its memory and its event loop delay.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openCsv, readCsv } from '@rollcall/csv'
import { contactsCsv } from './contacts-csv.ts'

const MB = 1_000_000
const chunks = contactsCsv('plain', 10 * MB)

async function* repeated(times: number) {
  for (let time = 0; time < times; time++) yield* chunks
}

/** Reads the file `times` times as one file; returns the peak memory in bytes. */
async function peakBytes(times: number): Promise<number> {
  const { format, body } = await openCsv(repeated(times))
  const limits = { rows: Number.POSITIVE_INFINITY, columns: 256, fieldLength: 64 * 1024 }
  let peak = 0
  let batches = 0
  for await (const _ of readCsv(body, format, { limits })) {
    if (++batches % 20 === 0) peak = Math.max(peak, process.memoryUsage.rss())
  }
  return peak
}

// Small files first bring the process to its working size, so that only the growth by the big file counts.
for (let file = 0; file < 40; file++) await peakBytes(1)
const delay = monitorEventLoopDelay({ resolution: 1 })
const smallBytes = await peakBytes(1)
delay.enable()
const largeBytes = await peakBytes(100)
delay.disable()
console.log(JSON.stringify({ smallBytes, largeBytes, delayP99Ms: delay.percentile(99) / 1e6 }))
