import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A `startMongod` in a process of its own. */
export type MongodProcess = {
  url: string
  /** Stops it and returns what the recorded commands break, a line each. */
  stop(): Promise<string[]>
}

/** Starts `startMongod` in a process of its own, which ends with this one. It checks the rules of `rules.ts`. */
export async function startMongodProcess(target: string, { conflictEvery = 0 } = {}): Promise<MongodProcess> {
  const child = fork(join(import.meta.dirname, 'process.child.ts'), [target, String(conflictEvery)])
  const [url] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the proxy of mongod ended with exit code ${code}`))),
  ])
  return {
    url,
    async stop() {
      child.send('stop')
      const [findings] = await once(child, 'message')
      child.disconnect()
      return findings
    },
  }
}
