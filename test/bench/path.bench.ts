// P4 of the goals: the whole path of GET one contact beside a textbook path in as many processes. What counts is the CPU
// of all processes: gateway, service, database, Redis.
import assert from 'node:assert/strict'
import { bodyOf } from '../api.ts'
import { OWNER, startStack, type TestStack } from '../stack.ts'
import { cpuOf, cpuOfSession, pidByPort } from './cpu.ts'
import { startLoader } from './http-load.ts'
import { atLeast, type Figure, median } from './measure.ts'
import { startTextbook } from './textbook.ts'

const CONNECTIONS = 16
const WARM_UP_MS = 15_000
const ROUND_MS = 5_000
const ROUNDS = 5
const CONTACTS = 1_000

/** A server under load, and the CPU time that its processes have used so far, in milliseconds. */
type Side = { port: number; headers: Record<string, string>; cpu(): Promise<Record<string, number>> }
/** What a round measured: requests per second, and CPU µs per request of each process. */
type Round = { perSecond: number; cost: Record<string, number> }

/** Measures both paths alternately. */
export async function run(): Promise<Figure[]> {
  await using cleanUp = new AsyncDisposableStack()
  const stack = await startStack({ processes: true })
  cleanUp.defer(() => stack.stop())
  const paths = await fill(stack)
  const [ours, textbook] = [await rollcall(stack), await textbookPath(stack, cleanUp)]
  const loader = startLoader()
  cleanUp.defer(async () => loader.stop())
  const load = async ({ port, headers, cpu }: Side, ms: number): Promise<Round> => {
    const before = await cpu()
    const { answered, failed } = await loader.load({
      port,
      paths,
      headers,
      connections: CONNECTIONS,
      ms,
    })
    const used = await cpu()
    assert.equal(failed, 0, 'every answer of a load run is 2xx')
    const costs = Object.keys(used).map(name => [name, ((used[name]! - before[name]!) * 1_000) / answered])
    return { perSecond: (answered * 1_000) / ms, cost: Object.fromEntries(costs) }
  }
  for (const side of [ours, textbook]) await load(side, WARM_UP_MS)
  const rounds = { ours: [] as Round[], textbook: [] as Round[] }
  for (let round = 0; round < ROUNDS; round++) {
    rounds.ours.push(await load(ours, ROUND_MS))
    rounds.textbook.push(await load(textbook, ROUND_MS))
  }
  const ratios = rounds.ours.map(({ cost }, index) => total(rounds.textbook[index]!.cost) / total(cost))
  const figure = atLeast('P4 GET one contact, requests per CPU second of all processes', median(ratios), 1.5)
  return [{ ...figure, measured: `${figure.measured} (${shown(rounds.ours)}; textbook ${shown(rounds.textbook)})` }]
}

const total = (cost: Record<string, number>) => Object.values(cost).reduce((sum, part) => sum + part, 0)

function shown(rounds: readonly Round[]): string {
  const parts = Object.keys(rounds[0]!.cost).map(
    name => `${name} ${Math.round(median(rounds.map(({ cost }) => cost[name]!)))}`,
  )
  return `${Math.round(median(rounds.map(({ perSecond }) => perSecond)))}/s, ${parts.join(' + ')} µs`
}

/** Creates some contacts; returns their paths. */
async function fill({ owner }: TestStack): Promise<string[]> {
  const paths: string[] = []
  for (let index = 0; index < CONTACTS; index++) {
    const body = { email: `contact${index}@example.com`, name: `Contact ${index}`, tags: ['customer'] }
    const { id } = await bodyOf(owner.post<{ id: string }>('/api/audience', body), 201)
    paths.push(`/api/audience/${id}`)
  }
  return paths
}

async function rollcall(stack: TestStack): Promise<Side> {
  const [gateway, audience] = [stack.instances('gateway')[0]!, stack.instances('audience')[0]!]
  const signedIn = await bodyOf(stack.api.post<{ token: string }>('/api/auth/login', OWNER))
  const [database, redis] = await servers(stack)
  return {
    port: gateway.port,
    headers: { Authorization: `Bearer ${signedIn.token}` },
    cpu: async () => ({
      gateway: await cpuOfSession(gateway.pid()),
      audience: await cpuOfSession(audience.pid()),
      database: cpuOf(database),
      Redis: cpuOf(redis),
    }),
  }
}

async function textbookPath(stack: TestStack, cleanUp: AsyncDisposableStack): Promise<Side> {
  const service = await startTextbook(
    cleanUp,
    'service',
    stack.backing.MONGODB_URL,
    `${stack.namespace}rollcall_audience`,
  )
  const front = await startTextbook(cleanUp, 'front', String(service.port))
  const [database] = await servers(stack)
  return {
    port: front.port,
    headers: {},
    cpu: async () => ({ front: cpuOf(front.pid), service: cpuOf(service.pid), database: cpuOf(database) }),
  }
}

async function servers({ backing }: TestStack): Promise<[database: number, redis: number]> {
  const pidOf = (url: string) => pidByPort(new URL(url).port)
  return [await pidOf(backing.MONGODB_URL), await pidOf(backing.REDIS_CACHE_URL)]
}
