// L9 of the goals: short links over the whole path, each click counted, beside the textbook: Express with one read of Redis.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'
import { cpuOf, cpuOfSession, pidByPort } from './cpu.ts'
import { startLoader } from './http-load.ts'
import { atLeast, atMost, type Figure, median } from './measure.ts'
import { startTextbook } from './textbook.ts'

const CONNECTIONS = 16
const WARM_UP_MS = 10_000
const ROUND_MS = 5_000
const ROUNDS = 5
const LINKS = 100
/** Clicks are counted within a second; more on a busy machine. */
const COUNTED_MS = 5_000
/** Clicks of programs are not counted. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

/** A server under load, and the CPU time that its processes have used so far, in milliseconds. */
type Side = { port: number; cpu(): Promise<number> }
/** What a round measured: redirects per second, the time of 99 of 100 in milliseconds, and CPU in µs per redirect. */
type Round = { perSecond: number; p99Ms: number; cost: number }

/** Measures both alternately. Fails if a click is not counted. */
export async function run(): Promise<Figure[]> {
  await using cleanUp = new AsyncDisposableStack()
  const stack = await startStack({ processes: true })
  cleanUp.defer(() => stack.stop())
  const { paths, ids } = await makeLinks(stack)
  const [ours, textbook] = [await rollcall(stack), await textbookRedirect(stack, paths, cleanUp)]
  const loader = startLoader()
  cleanUp.defer(async () => loader.stop())
  const load = async ({ port, cpu }: Side, ms: number) => {
    const before = await cpu()
    const headers = { 'User-Agent': BROWSER }
    const result = await loader.load({ port, paths, headers, connections: CONNECTIONS, ms, statusClass: 3 })
    assert.equal(result.failed, 0, 'every answer is a redirect')
    const cost = (((await cpu()) - before) * 1_000) / result.answered
    return { answered: result.answered, perSecond: (result.answered * 1_000) / ms, p99Ms: result.p99Ms, cost }
  }
  let followed = 0
  const rounds = { ours: [] as Round[], textbook: [] as Round[] }
  for (let round = -1; round < ROUNDS; round++) {
    const ms = round < 0 ? WARM_UP_MS : ROUND_MS
    const [mine, theirs] = [await load(ours, ms), await load(textbook, ms)]
    followed += mine.answered
    if (round < 0) continue
    rounds.ours.push(mine)
    rounds.textbook.push(theirs)
  }
  await delay(COUNTED_MS)
  assert.equal(await clicksOf(stack, ids), followed, 'every click is counted')
  const ratioOf = (of: keyof Round) =>
    median(rounds.ours.map((round, index) => round[of] / rounds.textbook[index]![of]))
  const shown = `${describe(rounds.ours)}; textbook ${describe(rounds.textbook)}`
  const rate = atLeast('L9 redirects per second, 16 at once, clicks counted', ratioOf('perSecond'), 0.6)
  const late = atMost('L9 p99 of a redirect while clicks are counted', ratioOf('p99Ms'), 2)
  return [{ ...rate, measured: `${rate.measured} (${shown})` }, late]
}

function describe(rounds: readonly Round[]): string {
  const of = (part: keyof Round) => median(rounds.map(round => round[part]))
  return `${Math.round(of('perSecond'))}/s, ${Math.round(of('cost'))} µs CPU each, p99 ${of('p99Ms').toFixed(1)} ms`
}

async function makeLinks({ owner }: TestStack): Promise<{ paths: string[]; ids: string[] }> {
  const [paths, ids]: [string[], string[]] = [[], []]
  for (let index = 0; index < LINKS; index++) {
    const made = owner.post<{ id: string; slug: string }>('/api/links', { url: `https://example.com/${index}` })
    const { id, slug } = await bodyOf(made, 201)
    paths.push(`/l/${slug}`)
    ids.push(id)
  }
  return { paths, ids }
}

async function clicksOf({ owner }: TestStack, ids: readonly string[]): Promise<number> {
  let sum = 0
  for (const id of ids) sum += (await bodyOf(owner.get<{ clicks: number }>(`/api/links/${id}`))).clicks
  return sum
}

async function rollcall(stack: TestStack): Promise<Side> {
  const [gateway, content] = [stack.instances('gateway')[0]!, stack.instances('content')[0]!]
  const servers = [await pidOf(stack.backing.MONGODB_URL), await pidOf(stack.backing.REDIS_CACHE_URL)]
  return {
    port: gateway.port,
    async cpu() {
      const own = (await cpuOfSession(gateway.pid())) + (await cpuOfSession(content.pid()))
      return servers.reduce((sum, pid) => sum + cpuOf(pid), own)
    },
  }
}

async function textbookRedirect(
  { backing }: TestStack,
  paths: readonly string[],
  cleanUp: AsyncDisposableStack,
): Promise<Side> {
  const url = backing.REDIS_CACHE_URL
  const redis = new Redis(url)
  for (const [index, path] of paths.entries()) await redis.set(path.slice('/l/'.length), `https://example.com/${index}`)
  await redis.quit()
  const { port, pid } = await startTextbook(cleanUp, 'redirect', url)
  const server = await pidOf(url)
  return { port, cpu: async () => cpuOf(pid) + cpuOf(server) }
}

const pidOf = (url: string) => pidByPort(new URL(url).port)
