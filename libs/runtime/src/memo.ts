/** A bounded memory of computed values. */
export type Memo<V> = {
  get(key: string): V | undefined
  set(key: string, value: V): void
  readonly size: number
}

/**
 * A memo of at most `capacity` values that forgets the least recently used half at a time: reading a recent value
 * writes nothing, which a list in order of use would have to do at every read.
 */
export function createMemo<V>(capacity: number): Memo<V> {
  let recent = new Map<string, V>()
  let older = new Map<string, V>()

  const set = (key: string, value: V) => {
    if (recent.size >= capacity / 2) {
      older = recent
      recent = new Map()
    }
    recent.set(key, value)
  }

  return {
    set,
    get(key) {
      const value = recent.get(key)
      if (value !== undefined) return value
      const aged = older.get(key)
      if (aged !== undefined) set(key, aged)
      return aged
    },
    get size() {
      return recent.size + older.size
    },
  }
}
