// `npm run bench [name …] [-- --record]`: runs the benchmarks whose file names start with one of the names (all of them
// without a name) and prints a line per figure. With --record, writes them to RESULTS.md.
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem, type } from 'node:os'
import { basename, join } from 'node:path'
import { startBacking } from '@rollcall/local'
import { type Figure, lineOf } from './measure.ts'

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
    if (record) keep(figures)
  }
} finally {
  await backing.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

/** Writes figures to the table of RESULTS.md, and replaces earlier ones of the same name. */
function keep(figures: Figure[]): void {
  const machine = `${cpus()[0]?.model}, ${cpus().length} CPUs, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}; ${backing.describe.find(line => line.startsWith('mongodb'))?.replace(/ on \S+$/, '')}`
  const lines = readFileSync(results, 'utf8').split('\n')
  const ruler = lines.findIndex(line => line.startsWith('|---'))
  const end = lines.findIndex((line, index) => index > ruler && !line.startsWith('| '))
  const rows = lines.slice(ruler + 1, end)
  const byName = new Map(rows.map(row => [row.split('|')[1]!.trim(), row]))
  for (const { name, measured, goal, ok } of figures) {
    byName.set(name, `| ${name} | ${measured} | ${goal} | ${ok ? 'ok' : 'short'} | ${machine} |`)
  }
  const sorted = [...byName].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })).map(([, row]) => row)
  writeFileSync(results, [...lines.slice(0, ruler + 1), ...sorted, ...lines.slice(end)].join('\n'))
}
