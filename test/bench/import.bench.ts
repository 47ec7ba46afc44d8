// P10 of the goals: an import from upload to `completed`, compared with a plain driver loop that upserts the same rows.
// L1: its rate compared with listmonk 6.2 with files of the same shape on a machine of the same kind, and its memory.
import assert from 'node:assert/strict'
import { type Collection, MongoClient, ObjectId } from 'mongodb'
import type { Api } from '../api.ts'
import { accounting, importFile } from '../import/import-job.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { startStack, type TestStack } from '../stack.ts'
import { contactCells } from './contacts-csv.ts'
import { atLeast, type Figure, sideBySide } from './measure.ts'
import { peakMemoryWhile } from './memory.ts'
import { costOf, cpuOfStack, describeCost } from './side.ts'

const rowCount = Number(process.env.BENCH_ROWS ?? 100_000)
const oneByOneCount = Math.min(rowCount, 2_000)
const batchSize = 1_000
const rounds = rowCount < 1_000_000 ? 3 : 1
const attributes = { company: 'string', city: 'string' }

type Row = { email: string; name: string; attributes: { company: string; city: string } }

/** Measures rows a second: into an empty organization, and the same file again. */
export async function run(): Promise<Figure[]> {
  const rows = Array.from({ length: rowCount }, (_, index) => rowOf(index + 1))
  const file = fileOf(rows)
  const stack = await startStack({ processes: true, settings: organizationSettings })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  const database = mongo.db(`${stack.namespace}bare`)
  const bare = database.collection('contacts')
  try {
    await bare.createIndex({ organization: 1, emailKey: 1 }, { unique: true })
    const cpu = await cpuOfStack(stack, ['gateway', 'import', 'audience'])
    let cost: Record<string, number> = {}
    const imports = async (api: Api) => {
      const before = await cpu()
      const status = await importFile(api, file)
      cost = costOf(before, await cpu(), rowCount)
      assert.equal(accounting(status).failed, 0)
    }
    let ours: Api
    let theirs: ObjectId
    const fresh = await sideBySide(
      async () => {
        ours = await newOrganization(stack, attributes) // not part of what is timed
        return rate(rowCount, () => imports(ours))
      },
      () => {
        theirs = new ObjectId()
        return rate(rowCount, () => upsertAll(bare, rows, theirs))
      },
      rounds,
    )
    const costOfNew = cost
    const again = await sideBySide(
      () => rate(rowCount, () => imports(ours)),
      () => rate(rowCount, () => upsertAll(bare, rows, theirs)),
      rounds,
    )
    const costAgain = cost
    const [small, large] = [await peakWhileImporting(stack, rowCount / 10), await peakWhileImporting(stack, rowCount)]
    const single = await rate(oneByOneCount, () => upsertOneByOne(bare, rows.slice(0, oneByOneCount), new ObjectId()))
    return [
      withRates(atLeast(`P10 import of ${rowCount} new rows`, fresh.ratio, 1.3), fresh, costOfNew),
      withRates(atLeast(`P10 import of the same ${rowCount} again`, again.ratio, 1.3), again, costAgain),
      atLeast('P10 import beside upserts one by one', fresh.a / single, 6),
      besidePeer(fresh.a),
      growth('L1 memory of ten times the rows', small, large),
      ...(await uploads(stack)),
    ]
  } finally {
    await database.dropDatabase()
    await mongo.close()
    await stack.stop()
  }
}

/** listmonk's rows a second, by the size of the file. */
function besidePeer(rowsPerSecond: number): Figure {
  const { rate: peer, goal } = rowCount < 1_000_000 ? { rate: 7_500, goal: 1.5 } : { rate: 5_600, goal: 1.4 }
  const { measured, ...figure } = atLeast(`L1 import of ${rowCount} new rows`, rowsPerSecond / peer, goal)
  return { ...figure, measured: `${measured} (${Math.round(rowsPerSecond)} beside ${peer} rows/s, PostgreSQL 15)` }
}

/** Measures the memory of gateway and import for uploads of 20 and of 200 MB. */
async function uploads(stack: TestStack): Promise<Figure[]> {
  const api = await newOrganization(stack, attributes)
  const fileOfBytes = (bytes: number) => {
    const rows = Array.from({ length: 500_000 }, (_, index) => rowOf(index + 1))
    const lines = fileOf(rows.slice(0, bytes / 400)).split('\n')
    return lines.map(line => line.padEnd(399, ' ')).join('\n')
  }
  const figures: Figure[] = []
  for (const service of ['gateway', 'import'] as const) {
    const pid = stack.instances(service)[0]!.pid()
    const peak = (bytes: number) => {
      const file = fileOfBytes(bytes)
      return peakMemoryWhile(pid, () => api.upload('/api/audience/import/upload', file))
    }
    figures.push(growth(`upload of 200 MB beside 20 MB, memory of the ${service}`, await peak(20e6), await peak(200e6)))
  }
  return figures
}

function growth(name: string, small: number, large: number): Figure {
  const mib = (large - small) / 2 ** 20
  const measured = `+${mib.toFixed(0)} MiB (${(large / 2 ** 20).toFixed(0)} MiB)`
  return { name, measured, goal: '≤ 64 MiB', ok: mib <= 64 }
}

async function peakWhileImporting(stack: TestStack, count: number): Promise<number> {
  const api = await newOrganization(stack, attributes)
  const file = fileOf(Array.from({ length: count }, (_, index) => rowOf(index + 1)))
  return peakMemoryWhile(stack.instances('import')[0]!.pid(), () => importFile(api, file))
}

function withRates(figure: Figure, { a, b }: { a: number; b: number }, cost: Record<string, number>): Figure {
  const rates = `${Math.round(a)} beside ${Math.round(b)} rows/s, ${describeCost(cost)} a row`
  return { ...figure, measured: `${figure.measured} (${rates})` }
}

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (count * 1000) / (performance.now() - startedAt)
}

function rowOf(index: number): Row {
  const [email, name, company, city] = contactCells(index)
  return { email, name, attributes: { company, city } }
}

function fileOf(rows: readonly Row[]): string {
  return ['email,name,company,city', ...rows.map(lineOf)].join('\n')
}

function lineOf({ email, name, attributes: { company, city } }: Row): string {
  return [email, name, `"${company}"`, city].join(',')
}

function upsertOf(organization: ObjectId, { email, ...row }: Row) {
  const filter = { organization, emailKey: email.toLowerCase() }
  return { filter, update: { $set: { email, ...row } }, upsert: true }
}

async function upsertAll(bare: Collection, rows: Row[], organization: ObjectId): Promise<void> {
  for (let at = 0; at < rows.length; at += batchSize) {
    const operations = rows.slice(at, at + batchSize).map(row => ({ updateOne: upsertOf(organization, row) }))
    await bare.bulkWrite(operations, { ordered: false })
  }
}

async function upsertOneByOne(bare: Collection, rows: Row[], organization: ObjectId): Promise<void> {
  for (const row of rows) {
    const { filter, update } = upsertOf(organization, row)
    await bare.updateOne(filter, update, { upsert: true })
  }
}
