/**
 * Returns a function that shares reads: those of one key that are asked for in the same turn of the event loop are one read,
 * which begins after all of them were asked for. So none gets an answer that is older than its question. They share what
 * it returns.
 */
export function oncePerTurn(): <T>(key: string, read: () => Promise<T>) => Promise<T> {
  const asked = new Map<string, Promise<unknown>>()
  return <T>(key: string, read: () => Promise<T>): Promise<T> => {
    const open = asked.get(key) as Promise<T> | undefined
    if (open) return open
    const begun = new Promise<T>(resolve => {
      setImmediate(() => {
        asked.delete(key)
        resolve(read())
      })
    })
    asked.set(key, begun)
    return begun
  }
}
