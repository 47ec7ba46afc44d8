import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { explain, interruption, Problem, type RunningBacking, startBacking, supervise } from '@rollcall/local'
import { obtainTools, toolsCache } from './chart/tools.ts'

/**
 * `npm test`: backing services on free ports, then every test against them, then nothing left of either. With --soak, the
 * harnesses alone, one after the other, to their full counts.
 */

const ROOT = join(import.meta.dirname, '..')
const CACHE = process.env.CACHE_DIR ?? join(ROOT, '.cache')
const GRACE_SECONDS = 15
const TESTS = ['{cli,deploy,libs,protos,services,test}/**/*.test.ts', 'test/**/*.e2e.ts']
const HARNESSES = ['test/faults/*.{soak,e2e}.ts', 'test/abuse/*.e2e.ts', 'test/security/*-flood.e2e.ts']
const isSoak = process.argv.includes('--soak')
const concurrency = isSoak ? 1 : Math.min(availableParallelism(), 4)

const flags = process.argv.slice(2).filter(argument => argument.startsWith('-') && argument !== '--soak')
const filters = process.argv.slice(2).filter(argument => !argument.startsWith('-'))

/** Test files below the given paths (or with them in their own path), all of them when none is given. */
function testFiles(): string[] {
  const patterns = isSoak ? HARNESSES : TESTS
  const all = patterns.flatMap(pattern => globSync(pattern, { cwd: ROOT, exclude: name => name === 'node_modules' }))
  const wanted = filters.map(filter => relative(ROOT, filter) || '.').map(filter => (filter === '.' ? '' : filter))
  const files = wanted.length === 0 ? all : all.filter(file => wanted.some(part => file.includes(part)))
  if (files.length === 0) throw new Problem(`no test file matches ${filters.join(', ')}`)
  return files
}

async function runTests(files: string[], backing: RunningBacking, signal: AbortSignal): Promise<number> {
  const timeoutMs = isSoak ? 24 * 3_600_000 : 300_000
  const options = [`--test-concurrency=${concurrency}`, `--test-timeout=${timeoutMs}`, ...flags]
  const program = {
    command: process.execPath,
    args: ['--test', ...options, ...files],
    cwd: ROOT,
    env: {
      ...backing.env,
      NODE_COMPILE_CACHE: join(CACHE, 'compile'),
      NODE_NO_WARNINGS: '1',
      ...(isSoak && { SOAK: 'full' }),
    },
  }
  const tests = await supervise(program, { name: 'tests', graceSeconds: GRACE_SECONDS, signal })
  const { code } = await Promise.race([tests.exited, backing.failed]).finally(() => tests.stop())
  return code
}

async function main(signal: AbortSignal): Promise<number> {
  const files = testFiles()
  const dataDir = mkdtempSync(join(tmpdir(), 'rollcall-test-'))
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }))
  if (files.some(file => file.startsWith(join('test', 'chart')))) await obtainTools(toolsCache(print, signal)) // may take minutes
  const backing = await startBacking({ cacheDir: CACHE, dataDir, log: print, signal })
  return runTests(files, backing, signal).finally(() => backing.stop())
}

const print = (line: string) => console.log(line)
const signal = interruption()
try {
  const code = await main(signal)
  process.exit(signal.aborted ? 130 : code)
} catch (error) {
  if (!signal.aborted) console.error(explain(error))
  process.exit(signal.aborted ? 130 : 1)
}
