/**
 * Returns the first success of several attempts. Starts the next attempt when the last one fails or takes longer than
 * `staggerMs`. Aborts the remaining attempts after a success; rejects with all failures if every attempt fails.
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
