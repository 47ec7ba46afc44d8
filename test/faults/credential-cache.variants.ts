import { type CachedValue, type CacheRedis, type CredentialCache, createCredentialCache } from '@rollcall/credentials'

/** What the harness drives: the part of a credential cache that services use. */
export type CacheUnderTest = Pick<CredentialCache<StampedValue>, 'prepare' | 'resolve' | 'change'>

/** A resolved credential that says how new it is: the last change of the credential and of its organization. */
export type StampedValue = CachedValue & { credential: number; organization: number }

/** Settings that the harness gives to every variant alike. `ids` are all the credentials there are. */
export type VariantOptions = {
  prefix: string
  leaseMs: number
  ttlMs: number
  clock: () => number
  ids: readonly string[]
}

/** A way to cache credentials, sound or not. */
export type Variant = (redis: CacheRedis, options: VariantOptions) => CacheUnderTest

/** The cache the services use. */
export const fenced: Variant = (redis, options) => createCredentialCache<StampedValue>(redis, options)

/** Read-through with a time to live, and a delete after every write: what comes to mind first. */
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

/** The fences are not shut before the write. */
export const withoutShutting: Variant = (redis, options) =>
  alteringChanges(redis, options, { shut: async () => null, release: redis.evalsha })

/** The fences are not opened anew after the write. */
export const withoutReleasing: Variant = (redis, options) =>
  alteringChanges(redis, options, { shut: redis.evalsha, release: async () => null })

/** Whoever has ended a change opens its fences, whoever else keeps them shut. */
export const withoutOwners: Variant = (redis, options) =>
  alteringChanges(redis, options, {
    shut: redis.evalsha,
    release: (_, ...call) => redis.eval("for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[3]) end", ...call),
  })

/** A fence that Redis has forgotten is made again at once, as if nothing could have been behind it. */
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

/** A fence that cannot be set for want of memory fails the change. */
export const withoutDeleting: Variant = (redis, options) =>
  createCredentialCache<StampedValue>(rewriting(redis, 'redis.pcall(', 'redis.call('), options)

/** A fence that cannot be set for want of memory is left as it is. */
export const withoutMinding: Variant = (redis, options) =>
  createCredentialCache<StampedValue>(rewriting(redis, "redis.call('DEL', key)", ''), options)

/** Redis with scripts that say something else at one place. */
function rewriting(redis: CacheRedis, text: string, other: string): CacheRedis {
  return {
    ...redis,
    evalsha: () => Promise.reject(new Error('NOSCRIPT')),
    eval: (source, ...call) => redis.eval(source.replace(text, other), ...call),
  }
}

/** The cache with other scripts for its changes: the first of a change shuts its fences, the second releases them. */
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
