import { type CachedValue, type CacheRedis, type CredentialCache, createCredentialCache } from '@rollcall/credentials'

/** The part of a credential cache that services use. */
export type CacheUnderTest = Pick<CredentialCache<StampedValue>, 'prepare' | 'resolve' | 'change'>

/** A resolved credential with its versions: the last change of the credential and of its organization. */
export type StampedValue = CachedValue & { credential: number; organization: number }

/** Settings of every variant. `ids` are all credentials. */
export type VariantOptions = {
  prefix: string
  leaseMs: number
  ttlMs: number
  clock: () => number
  ids: readonly string[]
}

/** A cache of credentials, correct or broken. */
export type Variant = ((redis: CacheRedis, options: VariantOptions) => CacheUnderTest) & {
  /** Broken: it is filled from primaries that no majority confirms. */
  isFilledUnconfirmed?: true
}

/** The cache of the product. */
export const fenced: Variant = (redis, options) => createCredentialCache<StampedValue>(redis, options)

/** The naive cache: read-through with a time to live, and a delete after every write. */
export const naive: Variant = (redis, { prefix, ttlMs, ids }) => {
  const keyOf = (organizationId: string, id: string) => `${prefix}{${organizationId}}:naive:${id}`
  return {
    async prepare() {},
    async resolve({ organizationId, id }, load) {
      const key = keyOf(organizationId, id)
      const [entry] = await redis.mget(key).catch(() => [null])
      if (entry) return JSON.parse(entry)
      const value = await load()
      const store = "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])"
      if (value) void redis.eval(store, 1, key, JSON.stringify(value), ttlMs).catch(() => {})
      return value
    },
    async change({ organizationId, credentials }, write) {
      const result = await write(1_000)
      const keys = (credentials?.map(({ id }) => id) ?? ids).map(id => keyOf(organizationId, id))
      await redis.eval("redis.call('DEL', unpack(KEYS))", keys.length, ...keys)
      return result
    },
  }
}

/** Broken: is filled from a primary that was replaced and does not know it. */
export const withoutConfirming: Variant = Object.assign(
  (redis: CacheRedis, options: VariantOptions) => fenced(redis, options),
  { isFilledUnconfirmed: true } as const,
)

/** Broken: does not close the fences before the write. */
export const withoutShutting: Variant = (redis, options) =>
  alteringChanges(redis, options, { shut: async () => null, release: redis.evalsha })

/** Broken: does not open the fences again after the write. */
export const withoutReleasing: Variant = (redis, options) =>
  alteringChanges(redis, options, { shut: redis.evalsha, release: async () => null })

/** Broken: the end of one change opens the fences, even if another change has closed them. */
export const withoutOwners: Variant = (redis, options) =>
  alteringChanges(redis, options, {
    shut: redis.evalsha,
    release: (_, ...call) => redis.eval("for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[3]) end", ...call),
  })

/** Broken: recreates a fence that Redis has lost at once, as if it had protected nothing. */
export const withoutMemoryOfLoss: Variant = (redis, options) => {
  const cache = createCredentialCache<StampedValue>(redis, options)
  return {
    ...cache,
    async resolve(ref, load) {
      await cache.prepare(ref.organizationId)
      return cache.resolve(ref, load)
    },
  }
}

/** Broken: fails a change if memory is missing to set its fence. */
export const withoutDeleting: Variant = (redis, options) =>
  createCredentialCache<StampedValue>(rewriting(redis, 'redis.pcall(', 'redis.call('), options)

/** Broken: ignores a fence that cannot be set because memory is missing. */
export const withoutMinding: Variant = (redis, options) =>
  createCredentialCache<StampedValue>(rewriting(redis, "redis.call('DEL', key)", ''), options)

/** Returns Redis with scripts that differ in one place. */
function rewriting(redis: CacheRedis, text: string, other: string): CacheRedis {
  return {
    ...redis,
    evalsha: () => Promise.reject(new Error('NOSCRIPT')),
    eval: (source, ...call) => redis.eval(source.replace(text, other), ...call),
  }
}

/** Returns the cache with other scripts of changes: the first closes the fences, the second releases them. */
function alteringChanges(
  redis: CacheRedis,
  options: VariantOptions,
  { shut, release }: { shut: CacheRedis['evalsha']; release: CacheRedis['evalsha'] },
): CacheUnderTest {
  return {
    ...createCredentialCache<StampedValue>(redis, options),
    change(scope, write) {
      let isShut = false
      const evalsha: CacheRedis['evalsha'] = (...call) => {
        const script = isShut ? release : shut
        isShut = true
        return script(...call)
      }
      return createCredentialCache<StampedValue>({ ...redis, evalsha }, options).change(scope, write)
    },
  }
}
