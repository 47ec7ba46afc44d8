import type { HttpBody } from '@rollcall/contract'
import { csvRow } from './write.ts'

/** Columns of a file: their headings, and the cell of a record; null for an empty one. */
export type CsvColumns<T> = readonly (readonly [heading: string, cell: (record: T) => string | null])[]

const BYTE_ORDER_MARK = '\ufeff' // without it, spreadsheets do not detect UTF-8
const BODY_LENGTH = 64 * 1024

/** Streams records, one by one or in batches, as a CSV file, in bodies of about 64 Ki characters. */
export async function* csvFile<T extends object>(
  columns: CsvColumns<T>,
  records: AsyncIterable<T | readonly T[]> | Iterable<T>,
): AsyncGenerator<HttpBody> {
  let text = BYTE_ORDER_MARK + csvRow(columns.map(([heading]) => heading))
  for await (const next of records) {
    for (const record of Array.isArray(next) ? (next as readonly T[]) : [next as T]) {
      text += csvRow(columns.map(([, cell]) => cell(record) ?? ''))
      if (text.length < BODY_LENGTH) continue
      yield csvBody(text)
      text = ''
    }
  }
  if (text !== '') yield csvBody(text)
}

/** Returns a part of a CSV file as an answer. */
export function csvBody(text: string): HttpBody {
  return { contentType: 'text/csv; charset=utf-8', data: Buffer.from(text) }
}
