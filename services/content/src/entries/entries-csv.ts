import type { HttpBody } from '@rollcall/contract'
import { csvRow } from '@rollcall/csv'
import type { Field } from '../collections/fields.ts'
import type { Entry } from './entry.model.ts'

const BYTE_ORDER_MARK = '\ufeff' // without it, spreadsheets do not detect UTF-8

/** Returns entries as CSV: id, createdAt, and a column for each field. */
export async function* entriesAsCsv(
  batches: AsyncIterable<Entry[]>,
  fields: readonly Field[],
): AsyncGenerator<HttpBody> {
  yield csvBody(BYTE_ORDER_MARK + csvRow(['id', 'createdAt', ...fields.map(({ slug }) => slug)]))
  for await (const batch of batches) yield csvBody(batch.map(entry => rowOf(entry, fields)).join(''))
}

function rowOf({ _id, createdAt, values }: Entry, fields: readonly Field[]): string {
  return csvRow([String(_id), createdAt.toISOString(), ...fields.map(({ slug }) => cellOf(values, slug))])
}

function cellOf(values: Entry['values'], slug: string): string {
  const value = Object.hasOwn(values, slug) ? values[slug]! : ''
  return value instanceof Date ? value.toISOString() : String(value)
}

function csvBody(text: string): HttpBody {
  return { contentType: 'text/csv; charset=utf-8', data: Buffer.from(text) }
}
