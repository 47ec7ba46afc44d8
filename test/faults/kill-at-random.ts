import { pause, retry } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import type { Instance } from '../stack.ts'

const RESTART_MS = 60_000

/** What can be killed and started again. */
export type Killable = Pick<Instance, 'start' | 'kill'>

/** Kills and restarts all concurrently at random moments, until the number of kills is reached. */
export async function killAtRandom(instances: readonly Killable[], count: number, peaceMs: number): Promise<void> {
  let number = 0
  const kill = async (instance: Killable) => {
    while (number++ < count) {
      await pause(peaceMs * (1 + 2 * Math.random()))
      await instance.kill()
      // A service ends if there is no primary when it starts, and is started again.
      await retry(() => instance.start(), { deadline: Date.now() + scaledTimeout(RESTART_MS), baseMs: 50, maxMs: 200 })
    }
  }
  await Promise.all(instances.map(kill))
}
