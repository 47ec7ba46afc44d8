/** A field that an event changed. */
export type Change = { field: string; before: unknown; after: unknown }

/** Returns what an event changed, field by field; empty if it does not say. */
export function changesOf(event: object): Change[] {
  const { changes } = event as { changes?: unknown }
  if (!Array.isArray(changes)) return []
  return (changes as Record<string, unknown>[]).map(change => ({
    field: String(change.field ?? change.key),
    before: change.before ?? change.from,
    after: change.after ?? change.to,
  }))
}

/** Returns the names of the fields that an event changed; empty if it does not say. */
export function changedFields({ changed }: Record<string, unknown>): string[] {
  return Array.isArray(changed) ? changed.map(String) : []
}
