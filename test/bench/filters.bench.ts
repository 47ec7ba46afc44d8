// L4 and S2 of the goals: filters of contacts for the first time, through the gateway, each service in its own process.
// Beside the time stands the CPU time that each process took for one, and how long they waited for a core: machines are shared.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { type Db, MongoClient } from 'mongodb'
import { manyAddresses } from '../every-route.ts'
import { organizationSettings } from '../import/organizations.ts'
import { startStack, type TestStack } from '../stack.ts'
import { ask } from './ask.ts'
import { type Audience, fill } from './audience.bench.ts'
import { cpuOf, cpuOfSession, pidByPort, waitOf, waitOfSession } from './cpu.ts'
import { anyFilter, worstFilters } from './list.bench.ts'
import { type Figure, median } from './measure.ts'

const contactCount = Number(process.env.BENCH_CONTACTS ?? 1_000_000)
/** Positions in a row group of columns. */
const GROUP_ROWS = 4096
const RANDOM_FILTERS = 60
/** A pattern that backtracks: its time grows with the square of the name. Anchored, so the check accepts it. */
const STEEP = { name: { $regex: '^[a-z].*[0-9].*x$', $options: 'i' } }

/** CPU time of each process so far, and the time that all have waited for a core, in milliseconds. */
type Usage = () => Promise<{ cpu: Record<string, number>; waited: number }>
/** What filters took, each asked once; the CPU time of each process for one, and the wait for a core. In milliseconds. */
type Measured = { times: number[]; cost: Record<string, number>; waited: number }

/** Measures filters that nobody has asked before. */
export async function run(): Promise<Figure[]> {
  const stack = await startStack({ processes: true, settings: { ...organizationSettings, ...manyAddresses } })
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  try {
    const db = mongo.db(`${stack.namespace}rollcall_audience`)
    const audience = await fill(stack, db, contactCount)
    await columnsWritten(db, contactCount)
    const usage = await usageOf(stack)
    const asked = (filters: readonly object[]) => askOnce(audience, usage, filters)
    await asked(scores(0, 40)) // warms up
    const cities = await asked(numbers(20).map(city => ({ 'attributes.city': `city ${city}` })))
    const names = await asked(numbers(30).map(number => ({ name: { $regex: `act ${770 + number}` } })))
    const counts = await asked(scores(500, 30))
    const accepted = [...fc.sample(anyFilter(), { numRuns: RANDOM_FILTERS, seed: 1 }), ...worstFilters(), STEEP]
    const all = await asked(accepted)
    return [
      figureOf(`L4 filter that 5 % of ${contactCount} match, for the first time`, cities, 80),
      figureOf(`L4 search in names of ${contactCount}, for the first time`, names, 200),
      figureOf(`L4 range that half of ${contactCount} match, for the first time`, counts, 80),
      ...slowest(all, accepted),
    ]
  } finally {
    await mongo.close()
    await stack.stop()
  }
}

/** Waits until the job has written the columns of all contacts. */
export async function columnsWritten(db: Db, contacts: number): Promise<void> {
  const wanted = Math.ceil(contacts / GROUP_ROWS)
  for (const until = Date.now() + 1_200_000; Date.now() < until; await delay(1000))
    if ((await db.collection('rowGroups').countDocuments()) >= wanted) return
  assert.fail('the columns were not written in time')
}

async function usageOf(stack: TestStack): Promise<Usage> {
  const [gateway, audience] = [stack.instances('gateway')[0]!, stack.instances('audience')[0]!]
  const database = await pidByPort(new URL(stack.backing.MONGODB_URL).port)
  return async () => ({
    cpu: {
      gateway: await cpuOfSession(gateway.pid()),
      audience: await cpuOfSession(audience.pid()),
      database: cpuOf(database),
    },
    waited: (await waitOfSession(gateway.pid())) + (await waitOfSession(audience.pid())) + waitOf(database),
  })
}

/** Asks for page 1 of each filter, one at a time. */
async function askOnce({ api }: Audience, usage: Usage, filters: readonly object[]): Promise<Measured> {
  const times: number[] = []
  const before = await usage()
  for (const [index, filter] of filters.entries()) {
    const startedAt = performance.now()
    const status = await ask(api, { path: `/api/audience?filter=${encodeURIComponent(JSON.stringify(filter))}` }, index)
    assert.equal(status, 200, JSON.stringify(filter))
    times.push(performance.now() - startedAt)
  }
  const after = await usage()
  const cost = Object.entries(after.cpu).map(([name, ms]) => [name, (ms - before.cpu[name]!) / filters.length])
  return { times, cost: Object.fromEntries(cost), waited: (after.waited - before.waited) / filters.length }
}

function figureOf(name: string, measured: Measured, goal: number): Figure {
  const middle = median(measured.times)
  return { name, measured: `${middle.toFixed(1)} ms (${costOf(measured)})`, goal: `≤ ${goal} ms`, ok: middle <= goal }
}

function costOf({ cost, waited }: Measured): string {
  const parts = Object.entries(cost).map(([name, ms]) => `${name} ${ms.toFixed(1)}`)
  return `CPU ${parts.join(' + ')} ms, waited ${waited.toFixed(0)} ms for a core`
}

function slowest(all: Measured, filters: readonly object[]): Figure[] {
  const { times } = all
  const order = times.map((ms, index) => ({ ms, index })).sort((a, b) => b.ms - a.ms)
  for (const { ms, index } of order.slice(0, 5))
    console.error(`S2  ${ms.toFixed(0)} ms  ${JSON.stringify(filters[index]).slice(0, 200)}`)
  const middle = median(times)
  const most = Math.max(...times)
  const which = JSON.stringify(filters[times.indexOf(most)])
  const excerpt = which.length > 60 ? `${which.slice(0, 57)}…` : which
  const ratio = most / middle
  const measured = `${ratio.toFixed(1)}× (${most.toFixed(0)} / ${middle.toFixed(0)} ms, ${excerpt}; ${costOf(all)})`
  return [
    { name: `S2 slowest accepted filter of ${contactCount}, first time`, measured, goal: '≤ 8×', ok: ratio <= 8 },
    {
      name: `S2 slowest accepted filter of ${contactCount}, time`,
      measured: `${most.toFixed(0)} ms`,
      goal: '≤ 1000 ms',
      ok: most <= 1000,
    },
  ]
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const scores = (from: number, count: number) =>
  numbers(count).map(index => ({ 'attributes.score': { $gte: from + index } }))
