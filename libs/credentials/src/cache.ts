import { randomBytes } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import {
  type CacheRedis,
  closeFences,
  createFences,
  fillEntry,
  releaseFences,
  runScript,
  type Script,
} from './fences.ts'

/** Identifies a credential in the cache. */
export type CredentialRef = {
  organizationId: string
  kind: 'token' | 'session'
  /** `tokenCacheId` of a token, `sid` of a session. */
  id: string
}

/** The resolved credential: small JSON, with its expiry in milliseconds since 1970, or null. */
export type CachedValue = { expiresAt: number | null }

/** Result of a look-up. A value that is read after a miss is stored with the miss's `ticket`. */
export type Lookup<V> =
  | { kind: 'hit'; value: V }
  | { kind: 'miss'; ticket: string }
  | { kind: 'unavailable'; error: unknown }

/**
 * The credentials that a change affects; without `credentials`, all of the organization. The last character of an id
 * is enough, so the preview of a token is a valid id.
 */
export type ChangeScope = { organizationId: string; credentials?: readonly Omit<CredentialRef, 'organizationId'>[] }

/**
 * A cache of resolved credentials, shared by all replicas of all services. It never serves a value older than a change.
 */
export type CredentialCache<V extends CachedValue> = {
  /**
   * Resolves a credential from the cache, or by `load` (null: no such credential), whose value is then cached. A slow
   * or unavailable Redis costs a `load`, never a wrong result. `load` must see every write that was answered before it
   * began (`Store.readLatest`); a primary that was replaced and does not know it shows older ones. `load` runs once for
   * each caller that misses: a caller must not share a read that began before its own request.
   */
  resolve(ref: CredentialRef, load: () => Promise<V | null>): Promise<V | null>
  /** First half of `resolve`. Never throws. */
  lookup(ref: CredentialRef): Promise<Lookup<V>>
  /**
   * Second half of `resolve`: stores a value read after `lookup` returned the ticket. Returns whether it did. Never
   * throws.
   */
  fill(ref: CredentialRef, ticket: string, value: V): Promise<boolean>
  /**
   * Runs a write that changes what credentials resolve to. When it returns, no replica resolves to the old value any
   * more. `write` gets its time limit in milliseconds and must pass it to the database.
   *
   * Set `scope.credentials` only if the change cannot affect others (a sign-out, an edit of one token). A change of a
   * role or of a user also affects credentials that are created meanwhile: leave them out.
   *
   * Succeeds even if Redis is out of memory. Throws AppError `service.unavailable` if Redis is unreachable: either
   * before `write`, with no effect, or after it, with the write in effect at once. Rethrows errors of `write`; an
   * AppError other than `service.unavailable` must mean that nothing was written.
   */
  change<T>(scope: ChangeScope, write: (timeoutMs: number) => Promise<T>): Promise<T>
  /** Opens the fences of a new organization, so that its first credential is cached. Only for a new organization. */
  prepare(organizationId: string): Promise<void>
}

/** Settings of the cache. All but `clock` and `onError` must be the same in every service. */
export type CredentialCacheOptions = {
  /** Prefix of every key, without braces. */
  prefix?: string
  /** Maximum age of an entry. */
  ttlMs?: number
  /** Expiry of a change's claim if its process dies; a write may take half of it. */
  leaseMs?: number
  /** Milliseconds since 1970. */
  clock?: () => number
  /** Called for every failed Redis command. */
  onError?: (error: unknown) => void
}

const MINUTE_MS = 60_000
/** Fences per organization: a sign-out causes a miss for a few of the other credentials, not for all. */
const FENCE_COUNT = 16
/** Long, so that only unused fences expire. Losing a fence is always safe. */
const FENCE_TTL_MS = 24 * 60 * MINUTE_MS

/**
 * Creates the credential cache: entries live five minutes, and every change is in force at once, on every replica.
 *
 * Every credential has a fence, a string in Redis. An open fence holds a generation that was never used before; a
 * closed one holds the claims of the changes in progress (see fences.ts). All keys of an organization share a hash tag.
 * - Look-up: one MGET of entry and fence. It is a hit if the entry has the fence's generation; a closed fence has none.
 * - Miss: the open fence's generation is the ticket; read the database; store the value with the ticket, if the fence
 *   still has that generation.
 * - Change: (1) close the fences, (2) write, (3) release them: a fence without other claims opens with a new
 *   generation, (4) return. If Redis is out of memory, (1) and (3) delete the fences instead.
 *
 * Why no old value is accepted. Take a hit at time t on a value that was read at r. Its generation g was current from
 * before r until t without a gap, because no generation is reused. Suppose a change wrote at w, between r and t. At w
 * the fence was closed or gone: the change had closed or deleted it, and it cannot have opened since (see below). Then
 * g had ended before t, which contradicts the hit. So a hit equals what the database holds at that moment, whether or
 * not the change has returned, and even if its process died.
 *
 * The only assumption is that a write ends before the claim of its change expires; its limit is half of that time. If
 * it does take longer, an old value can be a hit between the end of the write and the release. The release then starts
 * a new generation before the change returns, so a change that has returned holds without any assumption about time.
 *
 * A process that dies, or loses Redis, between (1) and (3) leaves the fence closed until its claim expires. Until then
 * the database resolves requests, and the first request after that opens the fence. A claim has the name of its owner,
 * so overlapping changes release only their own. A repeated or late command does no harm: a claim expires, a release
 * starts one more generation, a fill finds its ticket invalid.
 *
 * Redis may lose any key at any time (restart, eviction, flush). A lost entry is a miss. A lost fence may have been
 * closed, so a request that misses it closes it for as long as any claim can last.
 *
 * A Redis without free memory does not block a change. A deleted fence is a lost fence: what opens it again is a claim
 * of a whole lease that began after the delete. That claim expires after every claim that was on the fence, and after
 * the time limit of the change's write. A delete at the release also works: the old generation never returns, and only
 * then the change returns. Entries outlive their fences, but an entry is a hit only with the fence it names.
 *
 * Redis must not return to an earlier state: run it without persistence, and do not read from replicas. A failover to a
 * replica that lacks the last writes can accept a revoked credential for as long as entries live. Only the clock of
 * Redis is used, and only to expire the claims of dead processes.
 */
export function createCredentialCache<V extends CachedValue>(
  redis: CacheRedis,
  options: CredentialCacheOptions = {},
): CredentialCache<V> {
  const {
    prefix = 'credential:',
    ttlMs = 5 * MINUTE_MS,
    leaseMs = 10_000,
    clock = Date.now,
    onError = () => {},
  } = options

  const fenceKey = (organizationId: string, number: number) => `${prefix}{${organizationId}}:${number}`
  const fenceOf = ({ organizationId, id }: CredentialRef) => fenceKey(organizationId, fenceNumber(id))
  const entryOf = ({ organizationId, kind, id }: CredentialRef) => `${prefix}{${organizationId}}:${kind}:${id}`
  const allFences = (organizationId: string) =>
    Array.from({ length: FENCE_COUNT }, (_, number) => fenceKey(organizationId, number))

  const fencesOf = ({ organizationId, credentials = [] }: ChangeScope) =>
    credentials.length === 0
      ? allFences(organizationId)
      : [...new Set(credentials.map(({ id }) => fenceKey(organizationId, fenceNumber(id))))]

  const isCurrent = ({ expiresAt }: V) => expiresAt === null || expiresAt > clock()
  const timeToLive = ({ expiresAt }: V) => (expiresAt === null ? ttlMs : Math.min(ttlMs, expiresAt - clock()))

  const lookup = async (ref: CredentialRef): Promise<Lookup<V>> => {
    try {
      const [entry, fence] = await redis.mget(entryOf(ref), fenceOf(ref))
      if (entry && fence && entry.startsWith(fence)) {
        const value: V = JSON.parse(entry.slice(fence.length))
        if (isCurrent(value)) return { kind: 'hit', value }
      }
      return { kind: 'miss', ticket: fence && !fence.startsWith('!') ? fence : '' }
    } catch (error) {
      onError(error)
      return { kind: 'unavailable', error }
    }
  }

  const runOnFences = (script: Script, keys: readonly string[], ...args: (string | number)[]) =>
    runScript(redis, script, keys, leaseMs, FENCE_TTL_MS, uniqueName(), ...args)

  const fill = async (ref: CredentialRef, ticket: string, value: V) => {
    const livesMs = timeToLive(value)
    if (livesMs <= 0) return false
    try {
      const keys = [entryOf(ref), fenceOf(ref)]
      return (await runOnFences(fillEntry, keys, ticket, ticket + JSON.stringify(value), livesMs)) === 1
    } catch (error) {
      onError(error)
      return false
    }
  }

  const updateFences = async (script: Script, fences: readonly string[], owner: string) => {
    try {
      await runOnFences(script, fences, owner)
    } catch (error) {
      onError(error)
      throw new AppError('service.unavailable', {}, { cause: error })
    }
  }

  return {
    lookup,
    fill,

    async resolve(ref, load) {
      const found = await lookup(ref)
      if (found.kind === 'hit') return found.value
      const value = await load()
      if (value && found.kind === 'miss') void fill(ref, found.ticket, value)
      return value
    },

    async change(scope, write) {
      const writeByMs = performance.now() + leaseMs / 2
      const fences = fencesOf(scope)
      const owner = uniqueName()
      await updateFences(closeFences, fences, owner)
      const result = await writeWithin(writeByMs, write).catch(async error => {
        if (wroteNothing(error)) await updateFences(releaseFences, fences, owner).catch(() => {})
        throw error
      })
      await updateFences(releaseFences, fences, owner)
      return result
    },

    async prepare(organizationId) {
      await runOnFences(createFences, allFences(organizationId)).catch(onError)
    },
  }
}

async function writeWithin<T>(writeByMs: number, write: (timeoutMs: number) => Promise<T>): Promise<T> {
  const timeoutMs = Math.floor(writeByMs - performance.now())
  if (timeoutMs <= 0) throw new AppError('service.unavailable', {})
  return write(timeoutMs)
}

/** Whether an error means that nothing was written. After any other failure the claim must stay until it expires. */
function wroteNothing(error: unknown): boolean {
  return error instanceof AppError && error.code !== 'service.unavailable'
}

/** Returns 16 unique characters: a generation, or the owner of a claim. */
function uniqueName(): string {
  return randomBytes(12).toString('base64url')
}

/** Returns the fence of an id. Ids are random, so their last character distributes them evenly. */
function fenceNumber(id: string): number {
  return id.charCodeAt(id.length - 1) % FENCE_COUNT
}
