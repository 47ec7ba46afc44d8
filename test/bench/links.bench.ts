// L9 of the goals: short links over the whole path, each click counted, beside the textbook: Express with one read of Redis.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'
import { cpuOf } from './cpu.ts'
import { atLeast, atMost, type Figure } from './measure.ts'
import { cpuOfStack, describeRounds, loadSides, type Round, ratioOf, type Side, serversOf } from './side.ts'
import { startTextbook } from './textbook.ts'

const LINKS = 100
/** A database that is idle for this long has nothing left to do: clicks are counted, and their events logged. */
const IDLE_MS = 1_000
const IDLE_CPU_MS = 100
/** Clicks of programs are not counted. */
const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }

/** Measures both alternately. Fails if a click is not counted. */
export async function run(): Promise<Figure[]> {
  await using cleanUp = new AsyncDisposableStack()
  const stack = await startStack({ processes: true })
  cleanUp.defer(() => stack.stop())
  const { paths, ids } = await makeLinks(stack)
  const [ours, textbook] = [await rollcall(stack, paths), await textbookRedirect(stack, paths, cleanUp)]
  const { database } = await serversOf(stack)
  let followed = 0
  const afterOurs = async ({ answered }: Round) => {
    followed += answered
    for (let before = -Infinity; cpuOf(database) - before > IDLE_CPU_MS; await delay(IDLE_MS)) before = cpuOf(database)
    assert.equal(await clicksOf(stack, ids), followed, 'every click is counted')
  }
  const rounds = await loadSides(ours, textbook, { statusClass: 3, afterOurs })
  const rate = atLeast(
    'L9 redirects per second, 16 at once, clicks counted',
    ratioOf(rounds, each => each.perSecond),
    0.6,
  )
  const late = atMost(
    'L9 p99 of a redirect while clicks are counted',
    ratioOf(rounds, each => each.p99Ms),
    2,
  )
  return [{ ...rate, measured: `${rate.measured} (${describeRounds(rounds)})` }, late]
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

async function rollcall(stack: TestStack, paths: string[]): Promise<Side> {
  return {
    port: stack.instances('gateway')[0]!.port,
    paths,
    headers,
    cpu: await cpuOfStack(stack, ['gateway', 'content']),
  }
}

async function textbookRedirect(stack: TestStack, paths: string[], cleanUp: AsyncDisposableStack): Promise<Side> {
  const url = stack.backing.REDIS_CACHE_URL
  const client = new Redis(url)
  for (const [index, path] of paths.entries())
    await client.set(path.slice('/l/'.length), `https://example.com/${index}`)
  await client.quit()
  const { port, pid } = await startTextbook(cleanUp, 'redirect', url)
  const { redis } = await serversOf(stack)
  return { port, paths, headers, cpu: async () => ({ Express: cpuOf(pid), Redis: cpuOf(redis) }) }
}
