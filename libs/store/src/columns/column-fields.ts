type Doc = Readonly<Record<string, unknown>>

/**
 * The fields of a record that have columns, by stored path: `name`, `createdBy.kind`. `attributes.*` stands for every key
 * below `attributes`.
 */
export type ColumnFields = readonly string[]

/** Whether a field has a column. */
export function hasColumn(fields: ColumnFields, field: string): boolean {
  const dot = field.lastIndexOf('.')
  return fields.includes(field) || (dot > 0 && fields.includes(`${field.slice(0, dot)}.*`))
}

/** The top-level fields that the values are read from. */
export function topLevelOf(fields: ColumnFields): string[] {
  return [...new Set(fields.map(field => field.split('.')[0]!))]
}

/** The values of a record by column. */
export function* valuesOf(fields: ColumnFields, record: Doc): Generator<[column: string, value: unknown]> {
  for (const field of fields) {
    const [top, key] = field.split('.') as [string, string | undefined]
    const value = record[top]
    if (key === undefined) yield [field, value]
    else if (key !== '*') yield [field, (value as Doc | null | undefined)?.[key]]
    else
      for (const [name, each] of Object.entries((value as Doc | null | undefined) ?? {})) yield [`${top}.${name}`, each]
  }
}
