/**
 * Tries one after another until one succeeds: the next one as soon as the last has failed, or has not ended within
 * `staggerMs`. Whatever still runs then is told to end. Rejects with all failures once every one has failed.
 */
export function hedge<T>(attempts: readonly ((signal: AbortSignal) => Promise<T>)[], staggerMs: number): Promise<T> {
  const over = new AbortController()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const failures: unknown[] = []
  let begun = 0
  let timer: NodeJS.Timeout | undefined

  const next = () => {
    clearTimeout(timer)
    const attempt = attempts[begun]
    if (!attempt) return
    begun += 1
    timer = setTimeout(next, staggerMs)
    attempt(over.signal).then(resolve, error => {
      failures.push(error)
      if (failures.length === attempts.length) reject(new AggregateError(failures))
      else if (!over.signal.aborted) next()
    })
  }
  if (attempts.length === 0) reject(new AggregateError([]))
  next()
  return promise.finally(() => {
    clearTimeout(timer)
    over.abort()
  })
}
