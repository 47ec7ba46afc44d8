import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cache, cached, install } from './install.ts'
import { tryLock } from './lock.ts'

const root = mkdtempSync(join(tmpdir(), 'install-'))
after(() => rmSync(root, { recursive: true }))
const newCache = (dir = mkdtempSync(join(root, 'cache-'))): Cache => ({
  dir,
  log: () => {},
  signal: new AbortController().signal,
})

test('two concurrent runs fill a folder once, and both get all of it', async () => {
  const cache = newCache()
  let fills = 0
  const fill = async (dir: string) => {
    fills++
    writeFileSync(join(dir, 'first'), '')
    await sleep(200)
    writeFileSync(join(dir, 'second'), '')
  }
  const dirs = await Promise.all([cached(cache, 'tool', fill), cached(newCache(cache.dir), 'tool', fill)])
  assert.equal(fills, 1)
  for (const dir of dirs) assert.deepEqual(readdirSync(dir), ['first', 'second'])
})

test('an aborted installation leaves no folder in the cache', async () => {
  const cache = newCache()
  const failing = async (dir: string) => {
    writeFileSync(join(dir, 'half'), '')
    throw new Error('cut off')
  }
  await assert.rejects(cached(cache, 'tool', failing), /cut off/)
  assert.ok(!existsSync(join(cache.dir, 'tool')))
  const dir = await cached(cache, 'tool', async dir => writeFileSync(join(dir, 'whole'), ''))
  assert.deepEqual(readdirSync(dir), ['whole'])
})

test('a failing installer is reported in one line: command, first error, log file', async () => {
  const cache = newCache()
  const program = {
    command: '/bin/sh',
    args: ['-c', 'echo resolving; echo "[ERROR] no such package"; echo hint; exit 4'],
  }
  await assert.rejects(install(cache, 'fetch it', program), {
    name: 'Problem',
    message: `fetch it failed (exit 4): [ERROR] no such package; see ${join(cache.dir, 'logs', 'fetch-it.log')}`,
  })
})

test('an unwritable cache folder is reported with what to do', async () => {
  const file = join(root, 'a-file')
  writeFileSync(file, '')
  await assert.rejects(
    cached(newCache(file), 'tool', async () => {}),
    { name: 'Problem', message: /a-file: a file stands in the way; .*CACHE_DIR/ },
  )
})

test('a lock is released when its holder is killed', async () => {
  const file = join(root, 'lock')
  const code = `
    const { tryLock } = await import(${JSON.stringify(join(import.meta.dirname, 'lock.ts'))})
    globalThis.held = tryLock(${JSON.stringify(file)})
    console.log('held')
    setInterval(() => {}, 1000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  assert.equal(tryLock(file), undefined)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  using held = tryLock(file)
  assert.ok(held)
})
