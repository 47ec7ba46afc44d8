/** A header of an endpoint in its form. The value of a stored one is not known. */
export type OwnHeader = { name: string; value: string; isStored: boolean }

/** Returns headers as the API takes them: null keeps a stored value. Leaves lines without a name out. */
export function headersOf(lines: readonly OwnHeader[]): Record<string, string | null> {
  const named = lines.filter(({ name }) => name.trim() !== '')
  return Object.fromEntries(
    named.map(({ name, value, isStored }) => [name.trim(), value === '' && isStored ? null : value]),
  )
}
