/** A field that an event changed. */
export type Change = { field: string; before: unknown; after: unknown }

/** Returns what an event changed, field by field; empty if it does not say. */
export function changesOf(event: object): Change[] {
  const { changes } = event as { changes?: Record<string, { from?: unknown; to?: unknown }> | null }
  return Object.entries(changes ?? {}).map(([field, { from, to }]) => ({ field, before: from, after: to }))
}

/** Returns the names of the fields that an event changed; empty if it does not say. */
export function changedFields({ changed }: Record<string, unknown>): string[] {
  return Array.isArray(changed) ? changed.map(String) : []
}
