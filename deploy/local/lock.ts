import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Takes a lock that other processes see, or answers undefined when one of them has it. The kernel frees it with the
 * process, however that ends: SQLite is the only file lock Node ships, and a pid in a file outlives a crash.
 */
export function tryLock(file: string): Disposable | undefined {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file)
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return { [Symbol.dispose]: () => database.close() }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw error
  }
}

/** Takes the lock as soon as nobody has it; `onWait` is called once if that is not now. */
export async function lock(file: string, onWait: () => void): Promise<Disposable> {
  for (let attempt = 0; ; attempt++) {
    const held = tryLock(file)
    if (held) return held
    if (attempt === 0) onWait()
    await sleep(100)
  }
}

const SQLITE_BUSY = 5
