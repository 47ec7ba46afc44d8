import { createHash } from 'node:crypto'

/** The Redis commands of the cache, as ioredis has them for a single server or a cluster. */
export type CacheRedis = {
  mget(...keys: string[]): Promise<(string | null)[]>
  evalsha(sha: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

/**
 * A fence is one string in Redis:
 * - open: its generation, 16 characters that are never reused;
 * - closed: `!` and the claims on it, `<owner>@<expiry in milliseconds, Redis' clock> `;
 * - gone: Redis has lost it, perhaps with claims, or had no memory for it. No credential of this fence is a hit.
 *   A request that misses it closes it for a whole lease, which is longer than any lost claim could last.
 *
 * At `maxmemory` Redis rejects SET but accepts DEL: a change then deletes the fences that it cannot set.
 */
const FENCE_FUNCTIONS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local leaseMs, fenceTtlMs, generation = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local function claim(owner)
  return string.format('%s@%.0f ', owner, now + leaseMs)
end

local function others_claims(fence, owner)
  if not fence then return claim('forgotten') end
  local claims = ''
  for text, holder, expiry in string.gmatch(fence, '(([%w_-]+)@(%d+) )') do
    if holder ~= owner and tonumber(expiry) > now then claims = claims .. text end
  end
  return claims
end

local function value_of(claims)
  return claims == '' and generation or '!' .. claims
end

local function set_or_delete(key, claims)
  local answer = redis.pcall('SET', key, value_of(claims), 'PX', fenceTtlMs)
  if answer.err then redis.call('DEL', key) end
end
`

/**
 * KEYS fences; ARGV[4] the owner. Adds the owner's claim to every fence: none of their credentials is a hit any more.
 */
export const closeFences = script(`
for _, key in ipairs(KEYS) do
  set_or_delete(key, others_claims(redis.call('GET', key), ARGV[4]) .. claim(ARGV[4]))
end`)

/** KEYS fences; ARGV[4] the owner. Removes the owner's claim; a fence without claims opens with a new generation. */
export const releaseFences = script(`
for _, key in ipairs(KEYS) do
  set_or_delete(key, others_claims(redis.call('GET', key), ARGV[4]))
end`)

/** KEYS fences. Creates missing ones open, for a new organization. */
export const createFences = script(`
for _, key in ipairs(KEYS) do
  redis.call('SET', key, generation, 'PX', fenceTtlMs, 'NX')
end`)

/**
 * KEYS entry, fence; ARGV[4] the generation seen before the value was read, [5] the entry, [6] its time to live in
 * milliseconds. Stores the entry and returns 1 if the fence is open and has that generation. Otherwise returns 0, and
 * opens the fence if its last claim has expired.
 */
export const fillEntry = script(`
local fence = redis.call('GET', KEYS[2])
if fence == ARGV[4] then
  redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[6])
  redis.call('PEXPIRE', KEYS[2], fenceTtlMs)
  return 1
end
if not fence or string.sub(fence, 1, 1) == '!' then
  redis.call('SET', KEYS[2], value_of(others_claims(fence, '')), 'PX', fenceTtlMs)
end
return 0`)

/** A Lua script and its SHA-1, by which Redis finds it. */
export type Script = { source: string; sha: string }

function script(body: string): Script {
  const source = FENCE_FUNCTIONS + body
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/** Runs a script by its digest, or by its text if Redis does not have it (first use, restart). */
export async function runScript(
  redis: CacheRedis,
  { source, sha }: Script,
  keys: readonly string[],
  ...args: (string | number)[]
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return redis.eval(source, keys.length, ...keys, ...args)
  }
}
