import type { HttpBody } from '@rollcall/contract'
import { csvRow, joinTags, writeCell } from '@rollcall/csv'
import {
  copyBytes,
  documentReader,
  fieldFinder,
  int32At,
  isDate,
  numberAt,
  type RawRecords,
  type RecordWriter,
  recordChunks,
  timeAt,
  writeIsoDate,
  writeNumber,
} from '@rollcall/store'
import { mongo } from 'mongoose'
import { type AttributeType, type AttributeValue, type Definition, pathOf } from '../attributes/attribute-values.ts'
import type { Contact } from './contact.model.ts'

const { BSONType } = mongo.BSON
const BYTE_ORDER_MARK = '\ufeff' // without it, spreadsheets do not detect UTF-8
const [COMMA, CR, LF, BAR, BACKSLASH] = [0x2c, 0x0d, 0x0a, 0x7c, 0x5c]
const [TRUE, FALSE] = [Buffer.from('true'), Buffer.from('false')]

const columns = ['email', 'name', 'unsubscribed', 'blocked', 'tags', 'createdAt'] satisfies (keyof Contact)[]

/** The stored fields that a CSV line needs. */
export const csvFields: Readonly<Record<string, 1>> = Object.fromEntries(
  [...columns, 'attributes'].map(name => [name, 1 as const]),
)

/** Returns contacts as a CSV file, in chunks of about 64 KiB. Importing it again changes nothing. */
export async function* contactsAsCsv(
  contacts: AsyncIterable<RawRecords>,
  definitions: readonly Definition[],
): AsyncGenerator<HttpBody> {
  const slugs = definitions.map(({ slug }) => slug)
  const writer = csvWriter(slugs)
  yield csvBody(Buffer.from(BYTE_ORDER_MARK + csvRow([...columns, ...slugs])))
  for await (const records of contacts) for (const chunk of recordChunks(records, writer)) yield csvBody(chunk)
}

/** Creates a writer of contacts as lines. */
function csvWriter(slugs: readonly string[]): RecordWriter {
  const { find, types, starts } = fieldFinder([...columns, ...slugs.map(pathOf)])
  const cells = types.length
  const decode = documentReader<Contact>(Object.keys(csvFields))
  return {
    write(target, start, bytes, document) {
      if (!find(bytes, document)) return -1
      let at = start
      for (let cell = 0; cell < cells; cell++) {
        if (cell > 0) target[at++] = COMMA
        at = writeValue(target, at, bytes, types[cell]!, starts[cell]!)
        if (at < 0) return -1
      }
      target[at] = CR
      target[at + 1] = LF
      return at + 2
    },
    convert(document) {
      const contact = decode(document)
      const values = slugs.map(slug => (Object.hasOwn(contact.attributes, slug) ? contact.attributes[slug] : undefined))
      return Buffer.from(csvRow([...columns.map(name => contact[name]), ...values].map(cellOf)))
    },
  }
}

function cellOf(value: AttributeValue | string[] | undefined): string {
  if (value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? joinTags(value) : String(value)
}

/** Writes the cell of a value; returns -1 for a value of an unusual kind. */
function writeValue(target: Buffer, at: number, bytes: Buffer, type: number, start: number): number {
  switch (type) {
    case 0:
      return at
    case BSONType.string:
      return writeCell(target, at, bytes, start + 4, start + 3 + int32At(bytes, start))
    case BSONType.bool:
      return copyBytes(target, at, bytes[start] === 1 ? TRUE : FALSE)
    case BSONType.array:
      return writeTags(target, at, bytes, start)
    case BSONType.date: {
      const time = timeAt(bytes, start)
      // A year after 9999 begins with a sign, which is guarded.
      return isDate(time) ? writeCell(target, at, target, at, writeIsoDate(target, at, time)) : -1
    }
    case BSONType.long: {
      const number = numberAt(bytes, type, start)
      return Number.isSafeInteger(number) ? writeNumber(target, at, number!) : -1
    }
    default: {
      const number = numberAt(bytes, type, start)
      return Number.isFinite(number) ? writeNumber(target, at, number!) : -1
    }
  }
}

/** Joins tags as `joinTags` does, then makes a cell of what it has written. */
function writeTags(target: Buffer, at: number, bytes: Buffer, array: number): number {
  let end = at
  const arrayEnd = array + int32At(bytes, array) - 1
  for (let item = array + 4; item < arrayEnd; ) {
    if (bytes[item] !== BSONType.string) return -1
    if (item > array + 4) target[end++] = BAR
    const start = bytes.indexOf(0, item) + 1
    item = start + 4 + int32At(bytes, start)
    for (let from = start + 4; from < item - 1; from++) {
      const byte = bytes[from]!
      if (byte === BAR || byte === BACKSLASH) target[end++] = BACKSLASH
      target[end++] = byte
    }
  }
  return writeCell(target, at, target, at, end)
}
/** Returns a sample file for imports: all possible columns and one example line. */
export function sampleCsv(definitions: readonly Definition[]): HttpBody {
  const sample: [string, string][] = [
    ['email', 'contact.one@example.com'],
    ['name', 'Contact One'],
    ['tags', joinTags(['newsletter', 'customer'])],
    ['unsubscribed', 'false'],
    ...definitions.map((definition): [string, string] => [definition.slug, exampleOf(definition)]),
  ]
  const lines = [sample.map(([column]) => column), sample.map(([, cell]) => cell)]
  return csvBody(Buffer.from(BYTE_ORDER_MARK + lines.map(csvRow).join('')))
}

function csvBody(data: Buffer): HttpBody {
  return { contentType: 'text/csv; charset=utf-8', data }
}

const examples: Record<AttributeType, string> = {
  string: 'Text',
  number: '42',
  boolean: 'true',
  date: '2025-01-31',
  enum: '',
}

function exampleOf({ type, options }: Definition): string {
  return options[0] ?? examples[type]
}
