import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cache, cached, install } from './install.ts'
import { ROOT } from './settings.ts'

const SOURCES = ['services/console/*.*', 'services/console/src/**/*.*', 'libs/sdk/src/**/*.ts', 'pnpm-lock.yaml']
const HASH_LENGTH = 16
const DAY_MS = 24 * 60 * 60 * 1000

/** Returns the folder of the built console. Builds it if its sources have changed since the last start. */
export async function builtConsole(cache: Cache): Promise<string> {
  const name = `console-${hashOfSources()}`
  const folder = await cached(cache, name, async part => {
    cache.log('building the console')
    await install(cache, 'build of the console', {
      command: process.execPath,
      args: [join(ROOT, 'services', 'console', 'build.ts'), part],
      cwd: ROOT,
      env: process.env,
    })
  })
  await removeOld(cache.dir, name)
  return folder
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const file of globSync(SOURCES, { cwd: ROOT }).toSorted())
    hash.update(file).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, HASH_LENGTH)
}

/** Removes builds of a day ago and older; a younger one may be served by another stack. */
async function removeOld(folder: string, current: string): Promise<void> {
  const old = (await readdir(folder)).filter(name => /^console-[\da-f]{16}$/.test(name) && name !== current)
  for (const name of old) {
    const { mtimeMs } = await stat(join(folder, name))
    if (mtimeMs < Date.now() - DAY_MS) await rm(join(folder, name), { recursive: true, force: true })
  }
}
