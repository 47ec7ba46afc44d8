import { AppError } from '@rollcall/contract'
import type { CacheRedis, ChangeScope } from '@rollcall/credentials'
import { onFullRedis } from './credential-cache.memory.ts'
import {
  createProcess,
  createRandom,
  createScheduler,
  type Process,
  type Random,
  type Scheduler,
} from './credential-cache.scheduler.ts'
import type { CacheUnderTest, StampedValue, Variant } from './credential-cache.variants.ts'

/** Long enough that none expires in real time: time advances only by `pass`. */
const leaseMs = 60_000
const ttlMs = 300_000
const leapsMs = [1_000, 25_000, leaseMs + 1_000, ttlMs + 1_000]
/** Maximum real time of a world, so that no late write counts as punctual. */
const marginMs = 10_000
const gatewayCount = 3

const noCounts = {
  steps: 0,
  reads: 0,
  hits: 0,
  changes: 0,
  changesAnswered: 0,
  changesFailed: 0,
  mishaps: 0,
  /** Accepted an old value after the change was answered. */
  stale: 0,
  /** Accepted an old value after the change was written, by a punctual write. */
  overtaken: 0,
  /** Accepted a credential that had expired by the gateway's clock. */
  expired: 0,
  /** Did not cache again after recovery. */
  stuck: 0,
  /** Changes that succeeded with a Redis without memory. */
  changesWithoutMemory: 0,
  /** Failed a change although Redis was only out of memory. */
  denied: 0,
}
/** The events of a world; `stale`, `overtaken`, `expired`, `stuck` and `denied` are violations. */
export type Counts = typeof noCounts

/** A version: the number of changes of the credential and of its organization. */
type Stamp = Pick<StampedValue, 'credential' | 'organization'>
type Account = { id: string; expiresAt: number | null; alive: boolean; changes: number }

/** The commands of Redis that a world needs: those of the cache, and deleting keys. */
export type WorldRedis = CacheRedis & { del(...keys: string[]): Promise<unknown> }

/** The state of a world. */
export type WorldOptions = { redis: WorldRedis; prefix: string; variant: Variant; seed: number; trace?: Trace }
type Trace = (line: string) => void

/** What the database holds. */
type DatabaseState = { accounts: readonly Account[]; organizationChanges: number }

type World = {
  organizationId: string
  redis: WorldRedis
  /** Every key that was ever requested. */
  keys: Set<string>
  random: Random
  scheduler: Scheduler
  trace: Trace
  counts: Counts
  /** The database: the true state. */
  accounts: readonly Account[]
  /** Credentials of requests and changes; in half of the worlds only one. */
  subjects: readonly Account[]
  organizationChanges: number
  /** A primary that was replaced and does not know it: the state that it still shows. */
  oldPrimary: DatabaseState | null
  /** Whether a majority confirms the primary before credentials are read, as in `Store.readLatest`. */
  isConfirmed: boolean
  /** Minimum version of each credential since its last answered change. */
  answered: Map<string, Stamp>
  /** Whether every write so far was punctual. */
  punctual: boolean
  /** Whether Redis has no memory left and refuses commands that take more. */
  memoryIsFull: boolean
  leaptMs: number
  skewsMs: number[]
  cacheOf(redis: CacheRedis, clock: () => number): CacheUnderTest
}

/**
 * Runs one world: an organization with three credentials, some requests on several gateways and some changes, randomly
 * interleaved. Redis loses keys, runs out of memory and restarts; the database's primary is replaced and does not know it;
 * processes die, answers get lost, time jumps and clocks are wrong. The seed determines everything.
 */
export async function playWorld(options: WorldOptions): Promise<Counts> {
  const world = createWorld(options)
  const { random, scheduler, counts } = world
  const actors = shuffle(random, [
    ...Array.from({ length: 4 + random.below(17) }, (_, n) => () => request(world, `request-${n}`)),
    ...Array.from({ length: 1 + random.below(4) }, (_, n) => () => change(world, `change-${n}`)),
  ])
  const startChance = random.pick([0.05, 0.15, 0.4])
  const mishapChance = random.chance(0.3) ? 0 : random.below(25) / 100
  scheduler.faultiness = random.chance(0.4) ? 0 : random.below(25) / 100
  if (random.chance(0.8)) await warmUp(world)
  world.memoryIsFull = random.chance(0.15)

  while (actors.length > 0 || scheduler.waiting > 0) {
    counts.steps++
    if (random.chance(mishapChance)) await mishap(world)
    else if (scheduler.waiting === 0 || (actors.length > 0 && random.chance(startChance))) void actors.pop()!()
    else await scheduler.playOne()
  }

  await recover(world)
  await forget(world, [...world.keys])
  return counts
}

function createWorld({ redis, prefix, variant, seed, trace = () => {} }: WorldOptions): World {
  const random = createRandom(seed)
  const expiresAt = Date.now() + 100_000
  // The first two share a fence.
  const accounts: Account[] = [
    { id: 'one-a', expiresAt: null, alive: true, changes: 0 },
    { id: 'two-a', expiresAt, alive: true, changes: 0 },
    { id: 'one-b', expiresAt: null, alive: true, changes: 0 },
  ]
  const ids = accounts.map(({ id }) => id)
  return {
    organizationId: seed.toString(16).padStart(24, '0'),
    redis,
    keys: new Set(),
    random,
    scheduler: createScheduler(random, trace),
    trace,
    counts: { ...noCounts },
    accounts,
    subjects: random.chance(0.5) ? [random.pick(accounts)] : accounts,
    organizationChanges: 0,
    oldPrimary: null,
    isConfirmed: !variant.isFilledUnconfirmed,
    answered: new Map(ids.map(id => [id, { credential: 0, organization: 0 }])),
    punctual: true,
    memoryIsFull: false,
    leaptMs: 0,
    skewsMs: Array.from({ length: gatewayCount }, () => random.below(2_000) - 1_000),
    cacheOf: (port, clock) => variant(port, { prefix, leaseMs, ttlMs, clock, ids }),
  }
}

const now = (world: World) => Date.now() + world.leaptMs

const stampOf = ({ organizationChanges }: DatabaseState, account: Account): Stamp => ({
  credential: account.changes,
  organization: organizationChanges,
})

/** Number of changes: what a cluster time tells apart. */
const timeOf = ({ accounts, organizationChanges }: DatabaseState) =>
  accounts.reduce((sum, { changes }) => sum + changes, organizationChanges)

const isOlder = (one: Stamp, other: Stamp) => one.credential < other.credential || one.organization < other.organization

function readDatabase(world: World, { id }: Account, state: DatabaseState = world): StampedValue | null {
  const account = state.accounts.find(account => account.id === id)!
  const stands = account.alive && (account.expiresAt === null || account.expiresAt > now(world))
  return stands ? { ...stampOf(state, account), expiresAt: account.expiresAt } : null
}

/**
 * Reads a credential like `Store.readLatest`: first a majority confirms the primary, then a primary answers that has the
 * state of that time. `followsOld`: the process still takes a replaced primary for the primary.
 */
async function readLatest(world: World, process: Process, account: Account, followsOld: boolean) {
  const { scheduler, isConfirmed } = world
  const primary = () => (followsOld && world.oldPrimary) || world
  const confirm = () => {
    if (primary() !== world) throw new Error('no majority confirms the primary')
    return timeOf(world)
  }
  const confirmed = isConfirmed ? await scheduler.step(process, 'database', 'confirm', confirm) : 0
  const read = () => {
    if (timeOf(primary()) < confirmed) throw new Error('the primary does not reach the cluster time')
    return readDatabase(world, account, primary())
  }
  return scheduler.step(process, 'database', 'read', read)
}

/** Replaces the primary, which does not notice; or ends that. */
function replacePrimary(world: World): void {
  const { accounts, organizationChanges } = world
  world.oldPrimary = world.oldPrimary
    ? null
    : { accounts: accounts.map(account => ({ ...account })), organizationChanges }
  world.trace(world.oldPrimary ? 'the primary is replaced and does not know it' : 'the replaced primary steps down')
}

/** Returns Redis with a record of its keys, so that the world can delete them. */
function recordingKeys({ redis, keys }: World): CacheRedis {
  const learn = (asked: readonly (string | number)[]) => {
    for (const key of asked) keys.add(String(key))
  }
  return {
    mget(...asked) {
      learn(asked)
      return redis.mget(...asked)
    },
    eval(source, keyCount, ...rest) {
      learn(rest.slice(0, keyCount))
      return redis.eval(source, keyCount, ...rest)
    },
    evalsha(sha, keyCount, ...rest) {
      learn(rest.slice(0, keyCount))
      return redis.evalsha(sha, keyCount, ...rest)
    },
  }
}

/**
 * A process's connection to Redis. Each command is a step. `onScript` is called when a script arrives. Without memory,
 * Redis does not know scripts by digest, so that their text can run as on a full Redis.
 */
function connect(world: World, process: Process, onScript = () => {}): CacheRedis {
  const redis = recordingKeys(world)
  const inTurn = <T>(label: string, effect: () => Promise<T>) => world.scheduler.step(process, 'redis', label, effect)
  return {
    mget: (...keys) => inTurn('MGET', () => redis.mget(...keys)),
    eval: (source, ...call) =>
      inTurn('EVAL', () => {
        onScript()
        return redis.eval(world.memoryIsFull ? onFullRedis(source) : source, ...call)
      }),
    evalsha: (...call) =>
      inTurn('EVALSHA', () => {
        if (world.memoryIsFull) throw new Error('NOSCRIPT')
        onScript()
        return redis.evalsha(...call)
      }),
  }
}

/** A cache whose commands take effect at once, for preparation and recovery. */
const directCache = (world: World) => world.cacheOf(recordingKeys(world), () => now(world))

/** Caches everything, the initial state of most worlds. */
async function warmUp(world: World) {
  const cache = directCache(world)
  const { organizationId, accounts } = world
  await cache.prepare(organizationId)
  const resolve = (account: Account) =>
    cache.resolve({ organizationId, kind: 'token', id: account.id }, async () => readDatabase(world, account))
  await Promise.all(accounts.map(resolve))
}

/** A clock of one gateway that records the earliest time it returned. */
function createClock(world: World, gateway: number) {
  let earliest = Number.POSITIVE_INFINITY
  const readTime = () => {
    const time = now(world) + world.skewsMs[gateway]!
    earliest = Math.min(earliest, time)
    return time
  }
  return { readTime, earliest: () => earliest }
}

async function request(world: World, name: string): Promise<void> {
  const { random, counts, trace } = world
  const process = createProcess(name)
  const account = random.pick(world.subjects)
  const clock = createClock(world, random.below(gatewayCount))
  const cache = world.cacheOf(connect(world, process), clock.readTime)
  const answeredBefore = { ...world.answered.get(account.id)! }
  const writtenBefore = stampOf(world, account)
  let loaded = false
  const followsOld = random.chance(0.5)
  const load = () => {
    loaded = true
    return readLatest(world, process, account, followsOld)
  }

  trace(`${name} of ${account.id}`)
  counts.reads++
  clock.readTime()
  try {
    const value = await cache.resolve({ organizationId: world.organizationId, kind: 'token', id: account.id }, load)
    trace(`${name} ${loaded ? 'loaded' : 'hit'} ${JSON.stringify(value)}`)
    if (!loaded) counts.hits++
    if (value) judge(value)
  } catch {
    trace(`${name} cannot be resolved`)
  }

  function judge(value: StampedValue) {
    judgeAge(world, value, answeredBefore, writtenBefore)
    if (!loaded && value.expiresAt !== null && value.expiresAt <= clock.earliest()) counts.expired++
  }
}

function judgeAge({ counts, punctual }: World, value: StampedValue, answered: Stamp, written: Stamp) {
  if (isOlder(value, answered)) counts.stale++
  else if (punctual && isOlder(value, written)) counts.overtaken++
}

async function change(world: World, name: string): Promise<void> {
  const { random, scheduler, counts, trace, organizationId } = world
  const process = createProcess(name)
  const target = random.chance(0.6) ? random.pick(world.subjects) : undefined
  const alive = random.chance(0.5)
  let shutAt = Number.POSITIVE_INFINITY
  let written: Stamp | undefined
  let metFullMemory = false
  const cache = world.cacheOf(
    connect(world, process, () => {
      shutAt = Math.min(shutAt, now(world))
      metFullMemory ||= world.memoryIsFull
    }),
    () => now(world),
  )
  const land = () => {
    if (now(world) - shutAt > leaseMs - marginMs) world.punctual = false
    written = applyChange(world, target, alive)
  }
  const scope: ChangeScope = { organizationId, ...(target && { credentials: [{ kind: 'token', id: target.id }] }) }

  trace(`${name} of ${target?.id ?? 'everything'}`)
  counts.changes++
  try {
    await cache.change(scope, async () => {
      if (random.chance(0.1)) throw new AppError('record.conflict')
      // The most critical moment: the fences are closed, and nothing is written yet.
      if (random.chance(0.3)) await scheduler.step(process, 'database', 'delay', () => mishap(world))
      await scheduler.step(process, 'database', 'write', land)
    })
    counts.changesAnswered++
    if (metFullMemory) counts.changesWithoutMemory++
    trace(`${name} is answered`)
    if (written) rememberAnswer(world, target, written)
  } catch (error) {
    counts.changesFailed++
    const wasRefused = error instanceof AppError && error.code === 'record.conflict'
    if (!wasRefused && !process.disturbed) counts.denied++
    trace(`${name} fails: ${error}`)
  }
}

function applyChange(world: World, target: Account | undefined, alive: boolean): Stamp {
  if (target) {
    target.alive = alive
    target.changes++
  } else {
    world.organizationChanges++
  }
  return { credential: target?.changes ?? 0, organization: world.organizationChanges }
}

function rememberAnswer(world: World, target: Account | undefined, written: Stamp) {
  for (const { id } of target ? [target] : world.accounts) {
    const known = world.answered.get(id)!
    if (target) known.credential = Math.max(known.credential, written.credential)
    else known.organization = Math.max(known.organization, written.organization)
  }
}

/** Shortens the lifetime of keys and of the claims in them, as if time had passed in Redis. */
const passTime = `
for _, key in ipairs(KEYS) do
  local value, left = redis.call('GET', key), redis.call('PTTL', key) - ARGV[1]
  if value and left > 0 then
    local sooner = function(lapse) return string.format('@%.0f ', lapse - ARGV[1]) end
    if string.sub(value, 1, 1) == '!' then value = string.gsub(value, '@(%d+) ', sooner) end
    redis.call('SET', key, value, 'PX', left)
  else
    redis.call('DEL', key)
  end
end`

async function pass(world: World, ms: number) {
  world.trace(`${ms} ms pass`)
  world.leaptMs += ms
  if (world.keys.size === 0) return
  await world.redis.eval(passTime, world.keys.size, ...world.keys, ms)
}

async function forget(world: World, keys: readonly string[]) {
  if (keys.length === 0) return
  world.trace(`Redis forgets ${keys.length === 1 ? keys[0] : 'everything'}`)
  await world.redis.del(...keys)
}

async function mishap(world: World): Promise<void> {
  const { random, scheduler, keys, skewsMs } = world
  const mishaps = [
    () => pass(world, random.pick(leapsMs)),
    () => keys.size > 0 && forget(world, [random.pick([...keys])]),
    () => forget(world, [...keys]),
    () => {
      scheduler.redisAway = !scheduler.redisAway
    },
    () => {
      world.memoryIsFull = !world.memoryIsFull
      world.trace(world.memoryIsFull ? 'Redis has no memory left' : 'Redis has memory again')
    },
    () => replacePrimary(world),
    () => {
      skewsMs[random.below(gatewayCount)] = random.below(400_000) - 200_000
    },
  ]
  world.counts.mishaps++
  await random.pick(mishaps)()
}

/** Repeats requests without faults. The cache must soon answer by itself, and correctly. */
async function recover(world: World): Promise<void> {
  world.memoryIsFull = false
  world.oldPrimary = null
  const account = world.accounts.find(({ alive, expiresAt }) => alive && expiresAt === null)
  if (!account) return
  const cache = directCache(world)
  const ref = { organizationId: world.organizationId, kind: 'token', id: account.id } as const
  for (let attempt = 1; attempt <= 6; attempt++) {
    let loaded = false
    const value = await cache.resolve(ref, async () => {
      loaded = true
      return readDatabase(world, account)
    })
    if (!loaded && value) return judgeAge(world, value, world.answered.get(account.id)!, stampOf(world, account))
    if (attempt === 2) await pass(world, leaseMs + 1_000)
  }
  world.counts.stuck++
}

function shuffle<T>(random: Random, items: T[]): T[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    ;[items[last], items[other]] = [items[other]!, items[last]!]
  }
  return items
}
