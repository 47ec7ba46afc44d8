import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Acquires a lock between processes, or returns undefined if another process has it. The kernel releases it when the
 * process ends, even after a crash. SQLite is the only file lock in Node, and a pid file would outlive a crash.
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

/** Acquires the lock as soon as it is free. Calls `onWait` once if it is not free now. */
export async function lock(file: string, onWait: () => void): Promise<Disposable> {
  for (let attempt = 0; ; attempt++) {
    const held = tryLock(file)
    if (held) return held
    if (attempt === 0) onWait()
    await sleep(100)
  }
}

const SQLITE_BUSY = 5
