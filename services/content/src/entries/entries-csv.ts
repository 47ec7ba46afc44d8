import type { CsvColumns } from '@rollcall/csv'
import type { Field } from '../collections/fields.ts'
import type { Entry } from './entry.model.ts'

/** Returns the columns of a file of entries: id, createdAt, and one for each field. */
export function csvColumns(fields: readonly Field[]): CsvColumns<Entry> {
  return [
    ['id', ({ _id }) => String(_id)],
    ['createdAt', ({ createdAt }) => createdAt.toISOString()],
    ...fields.map(({ slug }): CsvColumns<Entry>[number] => [slug, ({ values }) => cellOf(values, slug)]),
  ]
}

function cellOf(values: Entry['values'], slug: string): string | null {
  if (!Object.hasOwn(values, slug)) return null
  const value = values[slug]!
  return value instanceof Date ? value.toISOString() : String(value)
}
