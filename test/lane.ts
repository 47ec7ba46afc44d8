import { type AsyncHook, createHook } from 'node:async_hooks'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, mock } from 'node:test'
import { pathToFileURL } from 'node:url'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { keepShared, stopShared } from '@rollcall/testing/shared'
import fc from 'fast-check'
import { seed } from './soak.ts'

/** Test files that run in one lane, as paths from the root of the repository. */
export type Group = {
  /** Groups of the same name share a boot. */
  boots: string
  files: readonly string[]
}

/** The work of a lane. */
export type Lane = {
  groups: readonly Group[]
  root: string
  /** Folder of claims: a group of several lanes goes to the lane that claims it first. */
  claims: string
  /** Ports of its servers, as FREE_PORTS. */
  freePorts: string
  /** Timeout of one file on an idle machine. */
  timeoutMs: number
}

/** Time for the process to exit after the last test. */
const exitMs = 30_000

/** Runs test files one after the other in this process, each as a suite named after it. */
export async function runLane({ groups, root, claims, freePorts, timeoutMs }: Lane): Promise<void> {
  process.env.FREE_PORTS = freePorts
  fc.configureGlobal({ seed })
  const hook = runnersHook()
  keepShared()
  let boots: string | undefined
  for (const group of groups) {
    if (!claim(join(claims, encodeURIComponent(group.files[0] ?? '')))) continue
    if (group.boots !== boots) await stopShared()
    boots = group.boots
    for (const file of group.files)
      await runFile(file, pathToFileURL(join(root, file)).href, scaledTimeout(timeoutMs), hook)
  }
  await stopShared()
  setTimeout(() => {
    console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, scaledTimeout(exitMs)).unref()
}

/**
 * Returns the async hook by which the test runner finds the suite of a declaration, and the test of an uncaught error. It
 * follows every promise, which costs much CPU. Without it, an uncaught error fails the lane.
 */
function runnersHook(): AsyncHook | undefined {
  const enable = mock.method(Object.getPrototypeOf(createHook({})) as AsyncHook, 'enable')
  after(() => undefined) // starts the test runner
  enable.mock.restore()
  return enable.mock.calls[0]?.this as AsyncHook | undefined
}

/** Loads and runs a file; resolves when its last hook has run, or when it has no test that matches. */
async function runFile(file: string, url: string, timeoutMs: number, hook?: AsyncHook): Promise<void> {
  hook?.enable()
  await describe(file, { timeout: timeoutMs }, () => loaded(url, timeoutMs).finally(() => hook?.disable()))
}

/** Fails a file that hangs while it loads. */
async function loaded(url: string, timeoutMs: number): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not loaded within ${timeoutMs} ms`)), timeoutMs)
  await Promise.race([import(url), late.promise]).finally(() => clearTimeout(timer))
}

function claim(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
