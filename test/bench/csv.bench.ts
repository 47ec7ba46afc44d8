import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { openCsv, readCsv } from '@rollcall/csv'
import { parse } from 'csv-parse'
import { contactsCsv, shapes } from './contacts-csv.ts'
import { atLeast, type Figure, sideBySide } from './measure.ts'

const MIB = 1024 * 1024
const fileBytes = 12_000_000

/** P9: compares the CSV engine with csv-parse, both streaming the same file; then measures memory and event loop delay. */
export async function run(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const shape of Object.keys(shapes) as (keyof typeof shapes)[]) {
    const chunks = contactsCsv(shape, fileBytes)
    const { a, b, ratio } = await sideBySide(
      () => rowsPerSecond(() => readOurs(chunks)),
      () => rowsPerSecond(() => readTheirs(chunks)),
    )
    const figure = atLeast(`P9 ${shape}`, ratio, 4)
    // One process does nothing else: its time is its CPU time.
    const cost = (rate: number) => `${Math.round(rate)} rows/s, ${(1e6 / rate).toFixed(2)} µs a row`
    figures.push({ ...figure, measured: `${figure.measured} (${cost(a)}; csv-parse ${cost(b)})` })
  }
  return [...figures, ...(await readBigFile())]
}

async function rowsPerSecond(read: () => Promise<number>): Promise<number> {
  const startedAt = performance.now()
  const rows = await read()
  return (rows / (performance.now() - startedAt)) * 1000
}

async function* streamed(chunks: Buffer[]) {
  yield* chunks
}

async function readOurs(chunks: Buffer[]): Promise<number> {
  const { format, body } = await openCsv(streamed(chunks))
  let count = 0
  for await (const { rows } of readCsv(body, format)) count += rows.length
  return count
}

async function readTheirs(chunks: Buffer[]): Promise<number> {
  const parser = Readable.from(chunks).pipe(parse({ from: 2 }))
  let count = 0
  parser.on('readable', () => {
    while (parser.read() !== null) count++
  })
  await finished(parser)
  return count
}

async function readBigFile(): Promise<Figure[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'csv.child.ts')])
  const { smallBytes, largeBytes, delayP99Ms } = JSON.parse(stdout) as Record<string, number>
  const growthMib = (largeBytes! - smallBytes!) / MIB
  return [
    { name: 'P9 memory', measured: `+${growthMib.toFixed(0)} MiB`, goal: '≤ 64 MiB', ok: growthMib <= 64 },
    { name: 'P9 event loop p99', measured: `${delayP99Ms!.toFixed(1)} ms`, goal: '≤ 50 ms', ok: delayP99Ms! <= 50 },
  ]
}
