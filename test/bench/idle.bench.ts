// D3 of the goals: what the services use when nobody asks anything, after a load. Each service is a process of its own, in a
// stack whose settings are those of production.
import { setTimeout as delay } from 'node:timers/promises'
import { SERVICES } from '@rollcall/local'
import { importFile } from '../import/import-job.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { startStack, type TestStack } from '../stack.ts'
import { contactCells, shapes } from './contacts-csv.ts'
import { cpuOfSession } from './cpu.ts'
import { startLoader } from './http-load.ts'
import type { Figure } from './measure.ts'
import { memoryOf } from './memory.ts'
import { loadOnce } from './side.ts'

const IMPORT_ROWS = 50_000
const LOAD_MS = 10_000
/** Background work of the load ends meanwhile, such as columns and events. */
const SETTLE_MS = 60_000
const IDLE_MS = 60_000
const MIB = 2 ** 20
const GOAL = { corePercent: 5, mib: 200 }

/** Measures the CPU of idle services, and their memory after a load. */
export async function run(): Promise<Figure[]> {
  const stack = await startStack({ processes: true, settings: organizationSettings })
  try {
    await loadAll(stack)
    await delay(SETTLE_MS)
    const before = await each(stack, cpuOfSession)
    await delay(IDLE_MS)
    const after = await each(stack, cpuOfSession)
    const memory = await each(stack, memoryOf)
    const percents = SERVICES.map(name => [name, ((after[name]! - before[name]!) / IDLE_MS) * 100] as const)
    const total = percents.reduce((sum, [, percent]) => sum + percent, 0)
    const most = Math.max(...Object.values(memory)) / MIB
    const sizes = Object.entries(memory).map(([name, bytes]) => `${name} ${Math.round(bytes / MIB)}`)
    return [
      {
        name: 'D3 CPU of all services while idle',
        measured: `${total.toFixed(1)} % of a core (${percents.map(([name, percent]) => `${name} ${percent.toFixed(1)}`).join(', ')})`,
        goal: `≤ ${GOAL.corePercent} %`,
        ok: total <= GOAL.corePercent,
      },
      {
        name: 'D3 memory of a service after load',
        measured: `${Math.round(most)} MiB at most (${sizes.join(', ')})`,
        goal: `≤ ${GOAL.mib} MiB`,
        ok: most <= GOAL.mib,
      },
    ]
  } finally {
    await stack.stop()
  }
}

/** Reads, creates and imports contacts. */
async function loadAll(stack: TestStack): Promise<void> {
  const api = await newOrganization(stack, { company: 'string', city: 'string' })
  const { 'x-forwarded-for': _, ...headers } = api.headers // each connection has an address of its own
  const side = { port: stack.instances('gateway')[0]!.port, paths: ['/api/audience'], headers, cpu: async () => ({}) }
  const body = { email: 'new{n}@example.com', name: 'New {n}' }
  const loader = startLoader()
  try {
    await loadOnce(loader, { ...side, method: 'POST', body }, { connections: 16, ms: LOAD_MS })
    await loadOnce(loader, side, { connections: 64, ms: LOAD_MS })
  } finally {
    loader.stop()
  }
  const { headers: titles, line } = shapes.plain
  const rows = Array.from({ length: IMPORT_ROWS }, (_, index) => line(contactCells(index)))
  await importFile(api, [titles.join(','), ...rows].join('\n'))
}

/** Measures the session of each service. */
async function each(stack: TestStack, measure: (session: number) => Promise<number>): Promise<Record<string, number>> {
  const measured: Record<string, number> = {}
  for (const service of SERVICES) measured[service] = await measure(stack.instances(service)[0]!.pid())
  return measured
}
