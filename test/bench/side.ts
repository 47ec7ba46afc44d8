import assert from 'node:assert/strict'
import type { ServiceName } from '@rollcall/local'
import type { TestStack } from '../stack.ts'
import { cpuOf, cpuOfSession, pidByPort } from './cpu.ts'
import { type Load, startLoader } from './http-load.ts'
import { median } from './measure.ts'

/** A server under load, and the CPU time that its processes have used so far, in milliseconds. */
export type Side = Pick<Load, 'port' | 'paths' | 'method' | 'body' | 'headers'> & {
  cpu(): Promise<Record<string, number>>
}
/** What a round measured: CPU µs per request of each process, and the times of 50 and 99 of 100 requests in milliseconds. */
export type Round = {
  answered: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  cost: Record<string, number>
  /** CPU µs per request of the loader. */
  clientCost: number
}
/** Rounds of two sides, each beside the other. */
export type Rounds = { ours: Round[]; textbook: Round[] }

const CONNECTIONS = 16
const WARM_UP_MS = 15_000
const ROUND_MS = 5_000
const ROUNDS = 5

/**
 * Loads both sides alternately, after a warm-up of each. `afterOurs` gets each round of ours, also the warm-up, before the
 * textbook's begins: it waits for what our rounds have left to do.
 */
export async function loadSides(
  ours: Side,
  textbook: Side,
  options: Pick<Load, 'statusClass'> & { afterOurs?: (round: Round) => Promise<void> } = {},
): Promise<Rounds> {
  const { afterOurs = async () => {}, ...rest } = options
  const loader = startLoader()
  const load = (side: Side, ms: number) => loadOnce(loader, side, { ...rest, connections: CONNECTIONS, ms })
  const rounds: Rounds = { ours: [], textbook: [] }
  try {
    await afterOurs(await load(ours, WARM_UP_MS))
    await load(textbook, WARM_UP_MS)
    for (let round = 0; round < ROUNDS; round++) {
      const mine = await load(ours, ROUND_MS)
      rounds.ours.push(mine)
      await afterOurs(mine)
      rounds.textbook.push(await load(textbook, ROUND_MS))
    }
    return rounds
  } finally {
    loader.stop()
  }
}

/** Loads a side once. */
export async function loadOnce(
  loader: ReturnType<typeof startLoader>,
  { cpu, ...target }: Side,
  options: Pick<Load, 'statusClass' | 'connections' | 'ms' | 'perAddress'>,
): Promise<Round> {
  const before = await cpu()
  const { answered, failed, ...times } = await loader.load({ ...target, ...options })
  const used = await cpu()
  assert.equal(failed, 0, 'every answer of a load run is a right one')
  const { p50Ms, p99Ms, clientCpuMs } = times
  const clientCost = (clientCpuMs * 1_000) / answered
  const perSecond = (answered * 1_000) / options.ms
  return { answered, perSecond, p50Ms, p99Ms, cost: costOf(before, used, answered), clientCost }
}

/** Returns the CPU µs of each process for one of `count` operations. */
export function costOf(before: Record<string, number>, after: Record<string, number>, count: number) {
  const costs = Object.keys(after).map(name => [name, ((after[name]! - before[name]!) * 1_000) / count])
  return Object.fromEntries(costs) as Record<string, number>
}

/** Describes the CPU µs of each process. */
export function describeCost(cost: Record<string, number>): string {
  const parts = Object.entries(cost).map(([name, micros]) => `${name} ${micros.toFixed(micros < 10 ? 1 : 0)}`)
  return `CPU ${parts.join(' + ')} µs`
}

/** Returns the reader of the CPU time of some services of a stack, of its database and, if wanted, of its Redis. */
export async function cpuOfStack(stack: TestStack, services: readonly ServiceName[]): Promise<Side['cpu']> {
  const { database, redis } = await serversOf(stack)
  const pids = services.map(service => [service, stack.instances(service)[0]!.pid()] as const)
  return async () => {
    const used: Record<string, number> = {}
    for (const [service, pid] of pids) used[service] = await cpuOfSession(pid)
    return { ...used, database: cpuOf(database), Redis: cpuOf(redis) }
  }
}

/** Returns the CPU µs per request of all processes. */
export const totalCost = ({ cost }: Round) => Object.values(cost).reduce((sum, part) => sum + part, 0)

/** Returns the median of the ratios of ours to the textbook's, round by round. */
export function ratioOf({ ours, textbook }: Rounds, of: (round: Round) => number): number {
  return median(ours.map((round, index) => of(round) / of(textbook[index]!)))
}

/** Describes the rates of both sides, and the CPU µs per request of each process. */
export function describeRounds({ ours, textbook }: Rounds): string {
  return `${describeSide(ours)}; textbook ${describeSide(textbook)}`
}

function describeSide(rounds: readonly Round[]): string {
  const parts = Object.keys(rounds[0]!.cost).map(
    name => `${name} ${Math.round(median(rounds.map(({ cost }) => cost[name]!)))}`,
  )
  const of = (part: 'perSecond' | 'p99Ms') => median(rounds.map(round => round[part]))
  return `${Math.round(of('perSecond'))}/s, p99 ${of('p99Ms').toFixed(1)} ms, ${parts.join(' + ')} µs`
}

/** Returns the process ids of a stack's database and of the Redis of its caches. */
export async function serversOf({ backing }: TestStack): Promise<{ database: number; redis: number }> {
  const pidOf = (url: string) => pidByPort(new URL(url).port)
  return { database: await pidOf(backing.MONGODB_URL), redis: await pidOf(backing.REDIS_CACHE_URL) }
}
