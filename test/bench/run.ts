// `npm run bench [name …] [-- --record]`: runs the benchmarks whose file names start with one of the names (all of them
// without a name) and prints a line per figure. With --record, writes them to RESULTS.md.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem, type } from 'node:os'
import { basename, join } from 'node:path'
import { startBacking } from '@rollcall/local'
import { type Figure, lineOf } from './measure.ts'
import { recordFigures } from './results.ts'

const folder = import.meta.dirname
const results = join(folder, 'RESULTS.md')
const record = process.argv.includes('--record')
const wanted = process.argv.slice(2).filter(argument => !argument.startsWith('-'))
const files = globSync('*.bench.ts', { cwd: folder })
  .filter(file => wanted.length === 0 || wanted.some(name => basename(file).startsWith(name)))
  .sort()

const cacheDir = process.env.CACHE_DIR ?? join(folder, '../../.cache')
const dataDir = mkdtempSync(join(tmpdir(), 'rollcall-bench-'))
const backing = await startBacking({ cacheDir, dataDir, log: line => console.error(line) })
Object.assign(process.env, backing.env)
try {
  for (const file of files) {
    const { run } = (await import(join(folder, file))) as { run: () => Promise<Figure[]> }
    const figures = await run()
    for (const figure of figures) console.log(lineOf(figure))
    if (record) save(figures)
  }
} finally {
  await backing.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

/** Writes figures to RESULTS.md. */
function save(figures: Figure[]): void {
  const database = backing.describe.find(line => line.startsWith('mongodb'))?.replace(/^mongodb +| on \S+$/g, '')
  const machine = `${cpus()[0]?.model}, ${cpus().length} CPUs, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}; ${database}`
  writeFileSync(results, recordFigures(readFileSync(results, 'utf8'), figures, machine))
}
