import { randomBytes } from 'node:crypto'
import { AppError } from '@rollcall/contract'
import {
  type CacheRedis,
  createFences,
  fillEntry,
  releaseFences,
  runScript,
  type Script,
  shutFences,
} from './fences.ts'

/** A credential as the cache knows it. */
export type CredentialRef = {
  organizationId: string
  kind: 'token' | 'session'
  /** `tokenCacheId` of a token, `sid` of a session. */
  id: string
}

/** What a credential resolves to: JSON, small, and the moment it expires in milliseconds since 1970, or null. */
export type CachedValue = { expiresAt: number | null }

/** What the cache knows of a credential. A `ticket` is what a value read from now on may be filled with. */
export type Lookup<V> =
  | { kind: 'hit'; value: V }
  | { kind: 'miss'; ticket: string }
  | { kind: 'unavailable'; error: unknown }

/**
 * What a change touches: the credentials named, or, where there are none, every credential of the organization. Of an id
 * the last character is enough: a token may be named by its preview.
 */
export type ChangeScope = { organizationId: string; credentials?: readonly Omit<CredentialRef, 'organizationId'>[] }

/** A cache of resolved credentials, shared by every replica of every service, in which no change can be overtaken. */
export type CredentialCache<V extends CachedValue> = {
  /**
   * Resolves a credential: from the cache, or by `load`, whose answer (null: no such credential) is then cached. Redis
   * being slow or away costs a `load`, never a wrong answer. `load` is called anew for every caller that misses: none
   * may share a read that began before its own request did. It must read the database's primary.
   */
  resolve(ref: CredentialRef, load: () => Promise<V | null>): Promise<V | null>
  /** First half of `resolve`. Never throws. */
  lookup(ref: CredentialRef): Promise<Lookup<V>>
  /** Second half of `resolve`: offers a value read after `lookup` gave the ticket. Whether it was taken. Never throws. */
  fill(ref: CredentialRef, ticket: string, value: V): Promise<boolean>
  /**
   * Makes a change that alters what credentials resolve to. Once it returns, no request on any replica resolves to what
   * was before. `write` gets the milliseconds it has and must pass them to the database as the operation's limit.
   *
   * Name `credentials` only where the change touches these and can touch no other (a sign-out, an edit of one token);
   * a change of a role, or of a person, touches credentials that may come to be meanwhile: leave them out.
   *
   * Succeeds while Redis has no memory left. Throws AppError `unavailable` if Redis cannot be reached: before `write`, and
   * nothing has happened; or after, and what was written holds at once all the same. Whatever `write` throws is thrown
   * on; an AppError other than `unavailable` says that nothing was written.
   */
  change<T>(scope: ChangeScope, write: (timeoutMs: number) => Promise<T>): Promise<T>
  /** Lets a new organization's credentials be cached from the first one on. Only for one that has just been made. */
  prepare(organizationId: string): Promise<void>
}

/** Settings of the cache. All but `clock` and `onError` have to be the same in every service. */
export type CredentialCacheOptions = {
  /** Start of every key, without braces. */
  prefix?: string
  /** How long an entry lives at most. */
  ttlMs?: number
  /** How long a change keeps its fences shut if it dies; half of it is what a write may take. */
  leaseMs?: number
  /** Milliseconds since 1970. */
  clock?: () => number
  /** Told whenever Redis could not be asked. */
  onError?: (error: unknown) => void
}

const minuteMs = 60_000
/** An organization's credentials share this many fences: one sign-out costs a few of the others a read, not all. */
const fenceCount = 16
/** Long enough that only fences nobody has needed are forgotten; being forgotten is safe at any time. */
const fenceTtlMs = 24 * 60 * minuteMs

/**
 * The credential cache: five minutes of memory, and every change in force at once, on every replica.
 *
 * Every credential stands behind a fence, a string in Redis that is either open and of a generation that was never
 * used before, or shut by the changes in progress (see fences.ts). All keys of an organization share a hash tag.
 * - Look-up: one MGET of entry and fence. It is a hit if the entry bears the fence's generation; a shut fence has none.
 * - Miss: the open fence's generation is the ticket; read the database; store the value under the ticket, provided
 *   that the fence still has that generation.
 * - Change: (1) shut the fences, (2) write, (3) release them: a fence nobody else holds shut opens with a new
 *   generation, (4) answer. Where Redis has no memory left, (1) and (3) delete the fences instead.
 *
 * Why no old value is accepted. Take a hit at time t on a value read at r: its generation g stood from before r until t
 * without a gap, since no generation comes back. Suppose a change wrote at w, between r and t. At w the fence was shut or
 * gone: its change had shut or deleted it, and it cannot have opened since (see below). Then g had ended before t, which
 * contradicts the hit. So a hit is what the database holds at that moment, whether or not the change has been answered,
 * and whatever became of who made it.
 *
 * The one thing this takes for granted is that a write ends before its change's claim lapses; it is given half of that
 * time. Should it take longer all the same, then between its end and the release an old value may still be a hit, but
 * the release starts a new generation and only then the change answers: what has been answered holds without any
 * assumption about time.
 *
 * Whoever dies, or loses Redis, between (1) and (3) leaves the fence shut until his claim lapses: the database resolves
 * requests meanwhile, and the first of them after that opens the fence. A claim bears its owner's name, so that
 * overlapping changes release only their own. A command that is repeated or arrives late does no harm: a shut lapses, a
 * release starts one more generation, a fill finds its ticket void.
 *
 * Redis may forget anything at any time (restart, eviction, flush). An entry lost is a miss; a fence lost may have been
 * shut, so a request that misses it shuts it for as long as any claim could last.
 *
 * A full Redis is no obstacle to a change. A fence it deletes is a fence lost: what opens it again is a claim of a whole
 * lease that began after the delete, and so lapses after every claim that was on the fence, and after the time that the
 * change's write is given. Deleting at the release is a release: the generation that was shut out never comes back, and
 * the change only then answers. Entries outlive their fences, but an entry is a hit only beside the fence it names.
 *
 * What Redis must not do is show an earlier state: run it without persistence and read from no replica. A failover to a
 * replica that lacks the last writes can bring a revoked credential back for as long as entries live. No clock but that
 * of Redis counts, and it only to outlive the dead.
 */
export function createCredentialCache<V extends CachedValue>(
  redis: CacheRedis,
  options: CredentialCacheOptions = {},
): CredentialCache<V> {
  const {
    prefix = 'credential:',
    ttlMs = 5 * minuteMs,
    leaseMs = 10_000,
    clock = Date.now,
    onError = () => {},
  } = options

  const fenceKey = (organizationId: string, number: number) => `${prefix}{${organizationId}}:${number}`
  const fenceOf = ({ organizationId, id }: CredentialRef) => fenceKey(organizationId, fenceNumber(id))
  const entryOf = ({ organizationId, kind, id }: CredentialRef) => `${prefix}{${organizationId}}:${kind}:${id}`
  const allFences = (organizationId: string) =>
    Array.from({ length: fenceCount }, (_, number) => fenceKey(organizationId, number))

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
    runScript(redis, script, keys, leaseMs, fenceTtlMs, uniqueName(), ...args)

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

  const tellRedis = async (script: Script, fences: readonly string[], owner: string) => {
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
      await tellRedis(shutFences, fences, owner)
      const result = await writeWithin(writeByMs, write).catch(async error => {
        if (wroteNothing(error)) await tellRedis(releaseFences, fences, owner).catch(() => {})
        throw error
      })
      await tellRedis(releaseFences, fences, owner)
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

/** A refusal is a decision taken before anything was written. Any other failure may have come after: its claim stays. */
function wroteNothing(error: unknown): boolean {
  return error instanceof AppError && error.code !== 'service.unavailable'
}

/** 16 characters that nobody else, and nobody ever again, comes up with: a generation, or the owner of a claim. */
function uniqueName(): string {
  return randomBytes(12).toString('base64url')
}

/** Ids are random, so their last character spreads them evenly enough. */
function fenceNumber(id: string): number {
  return id.charCodeAt(id.length - 1) % fenceCount
}
