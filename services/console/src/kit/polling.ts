import { ConnectionError, RateLimitError, RollcallError } from '@rollcall/sdk'

/** Returns the interval of a query that reads a record again while it may change. Ends at an error that would repeat. */
export function pollWhile<T>(mayChange: (record: T) => boolean, ms: number) {
  return ({ state: { data, error } }: { state: { data: T | undefined; error: Error | null } }): number | false =>
    (!error || mayPass(error)) && (data === undefined || mayChange(data)) ? ms : false
}

/** Whether the same call may succeed later. */
function mayPass(error: Error): boolean {
  if (error instanceof ConnectionError || error instanceof RateLimitError) return true
  return error instanceof RollcallError && error.status >= 500
}
