import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Starts a textbook server as a process of its own; see `textbook.child.ts` for its roles and their arguments. */
export async function startTextbook(
  cleanUp: AsyncDisposableStack,
  role: 'service' | 'front' | 'redirect',
  ...args: string[]
): Promise<{ port: number; pid: number }> {
  const file = join(import.meta.dirname, 'textbook.child.ts')
  const started = spawn(process.execPath, [file, role, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanUp.defer(async () => void started.kill())
  const [line] = (await once(started.stdout, 'data')) as [Buffer]
  return { port: Number(line.toString()), pid: started.pid! }
}
