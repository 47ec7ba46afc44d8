import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'

/** Starts a program, waits until it prints that it is at work, and kills it up to `withinMs` later. `random` is from 0 to 1. */
export async function killAtWork(
  script: URL,
  args: readonly string[],
  { random, withinMs }: { random: () => number; withinMs: number },
): Promise<void> {
  const child = spawn(process.execPath, [script.pathname, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), exited])
  await pause(random() * withinMs)
  child.kill('SIGKILL')
  await exited
}
