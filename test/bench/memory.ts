import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const sampleEveryMs = 250

/** Returns the peak memory, in bytes, of the processes of a session during some work. */
export async function peakMemoryWhile(session: number, work: () => Promise<unknown>): Promise<number> {
  let over = false
  let peak = 0
  const sampling = (async () => {
    while (!over) {
      peak = Math.max(peak, await memoryOf(session))
      await sleep(sampleEveryMs)
    }
  })()
  await work().finally(() => {
    over = true
  })
  await sampling
  return peak
}

/** Returns the current memory, in bytes, of the processes of a session. */
export async function memoryOf(session: number): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-s', String(session)])
  return stdout.split('\n').reduce((sum, line) => sum + Number(line) * 1024, 0)
}
