import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Behaviour } from './proxy.ts'

/** A `startMongod` in a process of its own. */
export type MongodProcess = {
  url: string
  pid: number
  /** Stops it and returns what the recorded commands break, a line each. */
  stop(): Promise<string[]>
}

/** Starts `startMongod` in a process of its own, which ends with this one. It checks the rules of `rules.ts`. */
export async function startMongodProcess(target: string, behaviour: Partial<Behaviour> = {}): Promise<MongodProcess> {
  const child = fork(join(import.meta.dirname, 'process.child.ts'), [target, JSON.stringify(behaviour)])
  const [url] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the proxy of mongod ended with exit code ${code}`))),
  ])
  return {
    url,
    pid: child.pid!,
    async stop() {
      child.send('stop')
      const [findings] = await once(child, 'message')
      child.disconnect()
      return findings
    },
  }
}
