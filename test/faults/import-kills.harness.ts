import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, LOCALHOST, type RunningBacking, startBacking } from '@rollcall/local'
import { pause } from '@rollcall/runtime'
import { MongoClient, ObjectId } from 'mongodb'
import { type Api, bodyOf, onceServed } from '../api.ts'
import { follow, startImport } from '../import/import-job.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { type Instance, startStack } from '../stack.ts'
import { createFaults, type Toll, type Victim } from './import-kills.faults.ts'
import { differencesOf, type Snapshot, takeSnapshot } from './import-kills.snapshot.ts'
import { asItIs, nothing, startWire, type Variant } from './import-kills.wire.ts'
import { type ReplicaSet, type ReplicaSetMode, startReplicaSet } from './replica-set.ts'

/** Number of kills, and rows of each import. */
export type PlayOptions = {
  kills: number
  imports: number
  rows: number
  variant?: Variant
  seed?: number
  /** Kills only the worker, each time after a batch was applied and before its answer. */
  onlyUnknowing?: boolean
}

/** The outcome compared with an undisturbed run. */
export type Report = Toll & { variant: string; rows: number; seconds: number; differences: string[] }

/** The product with imports that can be killed. */
export type World = {
  /**
   * Imports files one after the other, and undoes the last one. Meanwhile worker, audience and Redis are killed, and the
   * replica set elects primaries and loses replies, at random points of batches. Compares the result with that of an undisturbed run.
   */
  play(options: PlayOptions): Promise<Report>
  [Symbol.asyncDispose](): Promise<void>
}

/** Number of concurrent batches of an import. */
const inFlight = 2
/** Duration of an election, or of lost replies. */
const OUTAGE_MS = 1000
const attributes = { company: 'string', seats: 'number' }

/** Formats a report as one line. */
export function summarize({ variant, kills, by, rows, seconds, repeated, mostRepeated, ...report }: Report): string {
  const moments = Object.entries(by).map(([what, count]) => `${what} ${count}`)
  const { differences, slowestRecoveryMs } = report
  return [
    `${variant}: ${kills} kills (${moments.sort().join(', ')}) over ${rows} rows in ${seconds.toFixed(0)} s`,
    `${repeated} applied batches sent again, at most ${mostRepeated} after one kill`,
    `slowest recovery ${(slowestRecoveryMs / 1000).toFixed(1)} s`,
    `${differences.length} differences to a run that was left alone`,
  ].join('; ')
}

/** Returns why a report fails. */
export function violationsIn({ differences, mostRepeated }: Report): string[] {
  const tooMany = mostRepeated > inFlight ? [`${mostRepeated} applied batches were sent again after one kill`] : []
  return [...differences, ...tooMany]
}

/**
 * Returns a file. Half of its contacts exist from the previous one. Some rows fail, some are superseded, some opt out,
 * some change nothing, and some are refused for new contacts although they would supersede others.
 */
function fileOf(number: number, rows: number): string {
  const first = (number * rows) / 2
  const lines = Array.from({ length: rows }, (_, index) => {
    const person = first + index
    if (index % 500 === 7) return `broken ${index},x,,,,,`
    if (index % 500 === 8) return `K${person + 3}@example.com,Loses,,,,`
    const optsOut = index % 97 === 0 ? 'yes' : ''
    return `k${person}@example.com,"Name, ${person % 3 ? number : 'same'}",Firm ${person % 9},${index},t${person % 5}|n${number},${optsOut},Oslo`
  })
  return ['email,name,company,seats,tags,unsubscribed,city', ...lines].join('\n')
}

async function importAll(api: Api, files: readonly string[]): Promise<void> {
  const list = await bodyOf(api.post<{ id: string }>('/api/audience-lists', { name: 'Everyone' }), 201)
  let jobId = ''
  for (const file of files) {
    jobId = await onceServed(() => startImport(api, file, { listIds: [list.id], tags: ['imported'] }))
    await follow(api, jobId)
  }
  const undo = await onceServed(() => bodyOf(api.post<{ jobId: string }>(`/api/audience/import/${jobId}/undo`)))
  await follow(api, undo.jobId)
}

/** Starts the product, what is killed as processes, with its own Redis for the queue and a proxy between import and audience. */
export async function startWorld(): Promise<World> {
  await using onFailure = new AsyncDisposableStack()
  const redis = await startRedis()
  onFailure.defer(() => redis.stop())
  const wirePort = await freePort()
  const replicaSet = await startReplicaSet()
  onFailure.defer(() => replicaSet.stop())
  const stack = await startStack({
    processes: ['import', 'audience'],
    settings: { ...organizationSettings, REDIS_QUEUE_URL: redis.url, MONGODB_URL: replicaSet.url },
    settingsOf: { import: { AUDIENCE_ADDRESS: `${LOCALHOST}:${wirePort}` } },
  })
  onFailure.defer(() => stack.stop())
  const [worker, audience] = [stack.instances('import')[0]!, stack.instances('audience')[0]!]
  const target = `${LOCALHOST}:${audience.port}`
  const wire = await startWire({ port: wirePort, target, trust: stack.trust('import') })
  onFailure.defer(() => wire.stop())
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  onFailure.defer(() => mongo.close())

  const victims = [
    victimOf('worker', worker),
    victimOf('audience', audience),
    { name: 'Redis', restart: redis.restart },
    { name: 'primary', restart: () => failing(replicaSet, 'without primary') },
    { name: 'replies', restart: () => failing(replicaSet, 'losing replies') },
  ]
  const importIntoNew = async (files: readonly string[]): Promise<Snapshot> => {
    const api = await newOrganization(stack, attributes)
    const city = { name: 'City', slug: 'city', type: 'string', required: true }
    await bodyOf(api.post('/api/audience/attributes', city), 201)
    await importAll(api, files)
    const { organization } = await bodyOf(api.get<{ organization: { id: string } }>('/api/auth/me'))
    return takeSnapshot({
      audience: mongo.db(`${stack.namespace}rollcall_audience`),
      imports: mongo.db(`${stack.namespace}rollcall_import`),
      organization: new ObjectId(organization.id),
    })
  }
  const undisturbed = new Map<string, Snapshot>()

  const all = onFailure.move()
  return {
    async play({ kills, imports, rows, variant = asItIs, seed = 1, onlyUnknowing = false }) {
      const files = Array.from({ length: imports }, (_, index) => fileOf(index, rows))
      const expected = undisturbed.get(files.join()) ?? (await importIntoNew(files))
      undisturbed.set(files.join(), expected)
      const { toll, atBatch, settled } = onlyUnknowing
        ? createFaults(victims.slice(0, 1), kills, seed, ['after'])
        : createFaults(victims, kills, seed)
      const startedAt = performance.now()
      wire.doing = { atBatch, variant }
      const actual = await importIntoNew(files).finally(settled)
      wire.doing = nothing
      const seconds = (performance.now() - startedAt) / 1000
      return {
        variant: variant.name,
        rows: imports * rows,
        seconds,
        ...toll,
        differences: differencesOf(expected, actual),
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function victimOf(name: string, instance: Instance): Victim {
  return {
    name,
    async restart() {
      await instance.kill()
      await instance.start()
    },
  }
}

/** A replica set that fails for a while. */
async function failing(replicaSet: ReplicaSet, mode: ReplicaSetMode): Promise<void> {
  await replicaSet.become(mode)
  await pause(OUTAGE_MS)
  await replicaSet.become('open')
}

/** A Redis that restarts empty on its port. */
async function startRedis() {
  const dataDir = await mkdtemp(join(tmpdir(), 'rollcall-redis-'))
  const port = await freePort()
  const cacheDir = process.env.CACHE_DIR ?? join(import.meta.dirname, '../../.cache')
  const start = () =>
    startBacking({ cacheDir, dataDir, ports: { redis: port }, only: ['redis'], env: {}, log: () => {} })
  let running: RunningBacking = await start()
  return {
    url: running.env.REDIS_QUEUE_URL,
    async restart() {
      await running.stop()
      running = await start()
    },
    async stop() {
      await running.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
