// M1: creates of one organization over several audience replicas, on a database that answers conflicts like
// mongod and replicates like a replica set. Each service in its own process, with a deadline of 2 s.
import { loadavg } from 'node:os'
import { startMongodProcess } from '@rollcall/testing/mongod/process'
import { type Api, createApi } from '../api.ts'
import { type Fleet, startFleet } from '../faults/fleet.ts'
import { follow, startImport } from '../import/import-job.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import type { TestStack } from '../stack.ts'
import { ask } from './ask.ts'
import { contactCells, shapes } from './contacts-csv.ts'
import { cpuOf, cpuOfSession, pidByPort } from './cpu.ts'
import { atLeast, type Figure } from './measure.ts'

const replicaCounts = [1, 2, 3, 6]
const clientCounts = [16, 64]
const DEADLINE_MS = 2000
/** From a write on the primary to a majority of three nodes. */
const MAJORITY_MS = 3
const measuredMs = Number(process.env.BENCH_SECONDS ?? 15) * 1000
/** Time for a new replica to be found, and to have compiled what it runs. */
const WARM_UP_MS = 6000
const importRows = Number(process.env.BENCH_ROWS ?? 50_000)
const attributes = { company: 'string', city: 'string' }
const GOAL = { ratio: 0.6, p99Ms: 1000 }

/** Creates within a time. Times in milliseconds; CPU in milliseconds an operation, by process. */
type Load = { perSecond: number; failed: number; p50: number; p99: number; cpu: Record<string, number> }

/** Measures creates by 16 and 64 clients over 1 to 6 replicas, alone and beside an import of the same organization. */
export async function run(): Promise<Figure[]> {
  const target = process.env.MONGODB_URL ?? ''
  const database = await pidByPort(new URL(target).port)
  const proxy = await startMongodProcess(target, { majorityMs: MAJORITY_MS })
  const settings = { ...organizationSettings, MONGODB_URL: proxy.url, RPC_DEADLINE_MS: String(DEADLINE_MS) }
  const fleet = await startFleet({}, settings)
  try {
    const gateway = fleet.replicas('gateway')[0]!
    const api = createApi(`http://${gateway.host}:${gateway.port}`)
    const usage = () => usageOf(fleet, { proxy: proxy.pid, database })
    const figures: Figure[] = []
    const single = new Map<number, number>()
    for (const replicas of replicaCounts) {
      while (fleet.replicas('audience').length < replicas) await fleet.add('audience')
      await creating(await newOwner(api), 16, WARM_UP_MS, usage)
      for (const clients of clientCounts) {
        const name = `M1 creates, ${clients} at once, ${replicas} audience replicas`
        const alone = await creating(await newOwner(api), clients, measuredMs, usage)
        const reference = single.get(clients) ?? alone.perSecond
        single.set(clients, reference)
        figures.push(aloneFigure(name, alone, alone.perSecond / reference))
        figures.push(await besideImport(`${name}, beside an import`, await newOwner(api), clients, usage))
      }
    }
    return figures
  } finally {
    await fleet.stop()
    await proxy.stop()
  }
}

function newOwner(api: Api): Promise<Api> {
  return newOrganization({ api } as TestStack, attributes)
}

let created = 0

/** Creates contacts from concurrent clients for a time. */
async function creating(
  api: Api,
  clients: number,
  ms: number,
  usage: () => Promise<Record<string, number>>,
): Promise<Load> {
  const took: number[] = []
  let failed = 0
  const before = await usage()
  const startedAt = performance.now()
  const client = async () => {
    while (performance.now() - startedAt < ms) {
      const number = ++created
      const body = { email: `new${number}@example.com`, name: `New ${number}`, attributes: { city: 'Oslo' } }
      const askedAt = performance.now()
      const status = await ask(api, { method: 'POST', path: '/api/audience', body }, number)
      if (status === 201) took.push(performance.now() - askedAt)
      else failed++
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  const seconds = (performance.now() - startedAt) / 1000
  const after = await usage()
  const cpu = Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, (ms - before[name]!) / took.length]))
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.floor(took.length * share)] ?? Number.NaN
  return { perSecond: took.length / seconds, failed, p50: at(0.5), p99: at(0.99), cpu }
}

/** Creates contacts while files are imported into the same organization. */
async function besideImport(
  name: string,
  api: Api,
  clients: number,
  usage: () => Promise<Record<string, number>>,
): Promise<Figure> {
  const startedAt = performance.now()
  const jobId = await startImport(api, fileOf(importRows))
  const load = await creating(api, clients, measuredMs, usage)
  const { result } = await follow(api, jobId, () => true)
  const rows = Math.round(result.created / ((performance.now() - startedAt) / 1000))
  await follow(api, jobId)
  const ok = load.failed === 0 && load.p99 <= GOAL.p99Ms
  return { name, measured: `${textOf(load)}; import ${rows} rows/s`, goal: '0 failed, p99 ≤ 1 s', ok }
}

function aloneFigure(name: string, load: Load, ratio: number): Figure {
  const isJudged = name.includes('16 at once, 3 ')
  const figure = atLeast(name, ratio, isJudged ? GOAL.ratio : 0)
  return {
    ...figure,
    measured: `${figure.measured} of one replica; ${textOf(load)}`,
    goal: isJudged ? figure.goal : '-',
  }
}

function textOf({ perSecond, failed, p50, p99, cpu }: Load): string {
  const each = Object.entries(cpu).map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
  const load = loadavg()[0]!.toFixed(1)
  return `${Math.round(perSecond)}/s, ${failed} failed, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, CPU ms: ${each.join(', ')}; load ${load}`
}

/** Returns the CPU time so far of each kind of process, in milliseconds. */
async function usageOf(fleet: Fleet, others: Record<string, number>): Promise<Record<string, number>> {
  const usage: Record<string, number> = { client: cpuOf(process.pid) }
  for (const service of ['gateway', 'audience', 'import'] as const) {
    const each = await Promise.all(fleet.replicas(service).map(({ pid }) => cpuOfSession(pid)))
    usage[service] = each.reduce((sum, ms) => sum + ms, 0)
  }
  for (const [name, pid] of Object.entries(others)) usage[name] = cpuOf(pid)
  return usage
}

function fileOf(rows: number): string {
  const { headers, line } = shapes.plain
  return [headers.join(','), ...Array.from({ length: rows }, (_, index) => line(contactCells(index)))].join('\n')
}
