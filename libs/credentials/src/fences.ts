import { createHash } from 'node:crypto'

/** The Redis commands the cache needs: a client of ioredis has them, single or cluster. */
export type CacheRedis = {
  mget(...keys: string[]): Promise<(string | null)[]>
  evalsha(sha: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
  eval(script: string, keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>
}

/**
 * A fence is one string in Redis:
 * - open: its generation, 16 characters that are never used twice;
 * - shut: `!` and the claims of those who keep it shut, `<owner>@<milliseconds, Redis' clock> `, each until it lapses;
 * - gone: Redis has forgotten it, and with it claims perhaps, or had no memory for it. Nothing behind it is a hit.
 *   A request that misses it shuts it for a whole lease, which is longer than any lost claim could have lasted.
 *
 * At `maxmemory` Redis refuses SET and goes on to take DEL: a change then deletes the fences that it cannot set.
 */
const fenceFunctions = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local leaseMs, fenceTtlMs, generation = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local function claim(owner)
  return string.format('%s@%.0f ', owner, now + leaseMs)
end

local function others_claims(fence, owner)
  if not fence then return claim('forgotten') end
  local claims = ''
  for text, holder, lapse in string.gmatch(fence, '(([%w_-]+)@(%d+) )') do
    if holder ~= owner and tonumber(lapse) > now then claims = claims .. text end
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

/** KEYS fences; ARGV[4] the owner. Adds the owner's claim to every fence: nothing behind them is a hit any more. */
export const shutFences = script(`
for _, key in ipairs(KEYS) do
  set_or_delete(key, others_claims(redis.call('GET', key), ARGV[4]) .. claim(ARGV[4]))
end`)

/** KEYS fences; ARGV[4] the owner. Takes the owner's claim away; a fence nobody else claims opens, as a new generation. */
export const releaseFences = script(`
for _, key in ipairs(KEYS) do
  set_or_delete(key, others_claims(redis.call('GET', key), ARGV[4]))
end`)

/** KEYS fences. Makes and opens those that are not there, for an organization that has never been written to. */
export const createFences = script(`
for _, key in ipairs(KEYS) do
  redis.call('SET', key, generation, 'PX', fenceTtlMs, 'NX')
end`)

/**
 * KEYS entry, fence; ARGV[4] the generation seen before the value was read, [5] the entry, [6] its milliseconds to live.
 * Stores the entry and answers 1 if the fence is open and still of that generation. If not, answers 0, and opens the
 * fence when the last claim on it has lapsed.
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

/** A Lua script and the digest Redis knows it by. */
export type Script = { source: string; sha: string }

function script(body: string): Script {
  const source = fenceFunctions + body
  return { source, sha: createHash('sha1').update(source).digest('hex') }
}

/** Runs a script by its digest, and by its text where Redis does not know it (yet, or after a restart). */
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
