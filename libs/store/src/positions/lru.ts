/** A map of at most so many entries: those not asked for the longest are forgotten first. */
export class Lru<V> {
  readonly #entries = new Map<string, V>()
  readonly #maxEntries: number

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value!)
  }

  /** Forgets an entry if it still has this value. */
  forget(key: string, value: V): void {
    if (this.#entries.get(key) === value) this.#entries.delete(key)
  }
}
