/**
 * Runs a script like a Redis at `maxmemory`, which refuses commands that may take memory. After its first write it
 * refuses none, because Redis does not stop a script half-way.
 */
export function onFullRedis(script: string): string {
  return fullRedis + script
}

const fullRedis = `
local has_written, real = false, redis
local mayTakeMemory, writes = { SET = true }, { SET = true, DEL = true, PEXPIRE = true }

local function is_refused(command)
  if mayTakeMemory[command] and not has_written then return true end
  has_written = has_written or writes[command]
  return false
end

local redis = {
  call = function(command, ...)
    if is_refused(command) then error("OOM command not allowed when used memory > 'maxmemory'.") end
    return real.call(command, ...)
  end,
  pcall = function(command, ...)
    if is_refused(command) then return { err = "OOM command not allowed when used memory > 'maxmemory'." } end
    return real.pcall(command, ...)
  end,
}
`
