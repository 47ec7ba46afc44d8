import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, constants, mkdir, rename, rm, statfs } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { lock } from './lock.ts'
import { Problem } from './problem.ts'
import { type Program, supervise } from './supervise.ts'

/** The folder of installed programs, kept between runs, with log and cancellation of one run. */
export type Cache = {
  dir: string
  log: (line: string) => void
  signal: AbortSignal
}

/** Returns the full path of a program on PATH, or undefined. */
export async function which(program: string, path = process.env.PATH ?? ''): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, program)
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (executable) return file
  }
  return undefined
}

/**
 * Returns the folder `name` of the cache, and fills it with `fill` if it is missing. It is written atomically: filled
 * under another name, then renamed. Of two concurrent runs, one fills it while the other waits.
 */
export async function cached(cache: Cache, name: string, fill: (dir: string) => Promise<void>): Promise<string> {
  const dir = join(cache.dir, name)
  if (existsSync(dir)) return dir
  try {
    using _held = await lock(join(cache.dir, `${name}.lock`), () =>
      cache.log(`waiting for another run to install ${name}`),
    )
    if (existsSync(dir)) return dir
    await expectRoom(cache.dir, CACHE_MEGABYTES, 'CACHE_DIR')
    const part = `${dir}.part`
    await rm(part, { recursive: true, force: true })
    await mkdir(part, { recursive: true })
    await fill(part)
    await rename(part, dir)
    return dir
  } catch (error) {
    throw cannotWrite(error, cache.dir) ?? error
  }
}

/**
 * Runs the installer that fills a folder of the cache. `purpose` starts the message of a failure.
 * Its output goes to a log next to the cache's folders.
 */
export async function install(cache: Cache, purpose: string, program: Program): Promise<void> {
  const logFile = join(cache.dir, 'logs', `${purpose.replaceAll(/[^a-z0-9.]+/gi, '-')}.log`)
  const running = await supervise(program, { name: purpose, logFile, graceSeconds: 5, signal: cache.signal })
  const { code } = await running.exited
  cache.signal.throwIfAborted()
  if (code !== 0)
    throw new Problem(`${purpose} failed (exit ${code}): ${summaryLine(running.lastLines(1000))}; see ${logFile}`)
}

/** Returns a program's version output, from stdout and stderr. */
export async function versionOf(command: string, flag: string): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, [flag], { timeout: 30_000 })
    return stdout + stderr
  } catch (error) {
    throw new Problem(`${command} ${flag} failed: ${error instanceof Error ? summaryLine(error.message) : error}`)
  }
}

/** Returns the most useful line of an installer's output: the first error, else the last line. */
function summaryLine(output: string): string {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  return (lines.find(line => /\berror\b/i.test(line)) ?? lines.at(-1) ?? 'no output').trim().slice(0, 300)
}

/** Throws a Problem if the folder's disk has too little free space: servers report a full disk late, or not at all. */
export async function expectRoom(folder: string, megabytes: number, setting: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = Math.floor((bavail * bsize) / 2 ** 20)
  if (free >= megabytes) return
  throw new Problem(
    `${folder} has ${free} MB free, ${megabytes} MB are required: free some, or set ${setting} to another folder`,
  )
}

const CACHE_MEGABYTES = 300
const STORAGE_FAULTS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'no permission to write there',
  EPERM: 'no permission to write there',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file stands in the way',
  EEXIST: 'a file stands in the way',
}

/** Returns the Problem for a file system error that the user can fix, else undefined. */
export function cannotWrite(error: unknown, folder: string, setting = 'CACHE_DIR'): Problem | undefined {
  const fault = STORAGE_FAULTS[(error as NodeJS.ErrnoException).code ?? '']
  return fault
    ? new Problem(`cannot write to ${folder}: ${fault}; free it, or set ${setting} to another folder`)
    : undefined
}
