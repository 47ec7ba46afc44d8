import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import * as variants from './credential-cache.variants.ts'
import { type Counts, playWorld } from './credential-cache.world.ts'

/** Violations. */
export const violationKinds = ['stale', 'overtaken', 'expired', 'stuck', 'denied'] as const

/** The outcome of many worlds, and the trace of the first with a violation. */
export type Report = Counts & { interleavings: number; seconds: number; example: string | null }

/** Number of worlds and the variant; `untilViolation` stops at the first violation. */
export type ExploreOptions = {
  redisUrl: string
  variant: variants.Variant
  interleavings: number
  firstSeed?: number
  untilViolation?: boolean
}

/** Number of concurrent worlds. They share only Redis, and keep its pipeline full. */
const width = 64

/** Runs worlds on a real Redis, one per seed. */
export async function explore(options: ExploreOptions): Promise<Report> {
  const { redisUrl, variant, interleavings, firstSeed = 1, untilViolation = false } = options
  const redis = new Redis(redisUrl, { enableAutoPipelining: true })
  const prefix = `fault-${randomBytes(6).toString('hex')}:`
  const startedAt = performance.now()
  const totals: Partial<Counts> = {}
  let violatedSeed: number | null = null
  let played = 0

  const playWorlds = async () => {
    while (played < interleavings && !(untilViolation && violatedSeed !== null)) {
      const current = firstSeed + played++
      const counts = await playWorld({ redis, prefix, variant, seed: current })
      add(totals, counts)
      if (violationKinds.some(kind => counts[kind] > 0)) violatedSeed ??= current
    }
  }
  try {
    await Promise.all(Array.from({ length: width }, playWorlds))
    const example = violatedSeed === null ? null : await narrate(violatedSeed)
    return { ...(totals as Counts), interleavings: played, seconds: (performance.now() - startedAt) / 1_000, example }
  } finally {
    redis.disconnect()
  }

  async function narrate(seed: number) {
    const lines = [`seed ${seed}`]
    await playWorld({ redis, prefix: `${prefix}again:`, variant, seed, trace: line => lines.push(line) })
    return lines.join('\n')
  }
}

function add(totals: Partial<Counts>, counts: Counts) {
  for (const [name, count] of Object.entries(counts) as [keyof Counts, number][]) {
    totals[name] = (totals[name] ?? 0) + count
  }
}

/** Formats a report as one line. */
export function summarize(name: string, { interleavings, seconds, example, ...counts }: Report): string {
  const figures = Object.entries(counts).map(([what, count]) => `${what} ${count}`)
  return `${name}: ${interleavings} interleavings in ${seconds.toFixed(1)} s, ${figures.join(', ')}`
}

/** Returns the number of violations. */
export function violationsIn(report: Report): number {
  return violationKinds.reduce((sum, kind) => sum + report[kind], 0)
}

/** Options of the full count. */
export type SoakOptions = { redisUrl: string; interleavings?: number; print?: (line: string) => void }

/**
 * The full count: 100,000 interleavings of the cache, a tenth of them of the naive read-through for comparison, and
 * every other broken variant until it fails. Prints a line for each. Throws if the cache fails or a broken variant does
 * not.
 */
export async function soak({ redisUrl, interleavings = 100_000, print = console.log }: SoakOptions): Promise<void> {
  const { fenced, naive, ...broken } = variants
  const firstSeed = randomBytes(4).readUInt32BE()
  const report = await explore({ redisUrl, variant: fenced, interleavings, firstSeed })
  print(summarize('credential cache', report))
  if (violationsIn(report) > 0) throw new Error(`the credential cache went wrong:\n${report.example}`)

  const compared = await explore({ redisUrl, variant: naive, interleavings: Math.ceil(interleavings / 10), firstSeed })
  print(summarize('naive read-through', compared))
  if (compared.stale === 0) throw new Error('a naive read-through got away: the harness proves nothing')

  for (const [name, variant] of Object.entries(broken)) {
    const caught = await explore({ redisUrl, variant, interleavings, firstSeed, untilViolation: true })
    print(summarize(name, caught))
    if (violationsIn(caught) === 0) throw new Error(`${name} got away: the harness proves nothing`)
  }
}
