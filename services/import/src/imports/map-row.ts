import { contactLimits } from '@rollcall/contract'
import {
  type Row as CsvRow,
  readBoolean,
  readDate,
  readEmail,
  readNumber,
  readOption,
  readTags,
  readText,
  unguard,
  type Value,
} from '@rollcall/csv'
import type {
  ApplyBatchRequestRow,
  DescribeAttributesResponseDefinition as Definition,
} from '@rollcall/protos/gen/audience-v1.ts'
import type { Import, RowFailure } from './import.model.ts'

/** A mapped column: its index, target, and the attribute definition that its cells are read by. */
export type Column = { index: number; header: string; target: string; definition: Definition | undefined }

/** A row as the audience accepts it, or why it cannot be mapped. */
export type MappedRow = { row: ApplyBatchRequestRow; failure?: undefined } | { row?: undefined; failure: RowFailure }

const { nameLength, tagCount, tagLength } = contactLimits()
const tagLimits = { count: tagCount, length: tagLength }

type ReadField = (
  row: ApplyBatchRequestRow,
  cell: string,
  { blank, clears }: { blank: boolean; clears: boolean },
) => string | undefined

/** Puts a cell of each of the contact's own fields into the row. Returns the reason if the cell does not fit. */
export const fieldReaders: ReadonlyMap<string, ReadField> = new Map<string, ReadField>([
  ['email', (row, cell, { blank }) => (blank ? 'is blank' : take(readEmail(cell), email => (row.email = email)))],
  ['name', (row, cell) => take(readText(cell, nameLength), name => (row.name = name))],
  [
    'tags',
    (row, cell, { blank, clears }) => {
      row.clearTags = blank && clears
      return take(readTags(cell, tagLimits), tags => (row.tags = tags))
    },
  ],
  [
    'unsubscribed',
    (row, cell, { blank }) =>
      blank ? undefined : take(readBoolean(cell), unsubscribed => (row.unsubscribed = unsubscribed)),
  ],
])

/** Returns the columns of a job's mapping, with the current attribute definitions. */
export function columnsOf(
  { format, mapping }: Pick<Import, 'format' | 'mapping'>,
  definitions: readonly Definition[],
): Column[] {
  return mapping.map(([header, target]) => ({
    index: format.headers.indexOf(header),
    header,
    target,
    definition: definitions.find(({ slug }) => slug === target),
  }))
}

/** Reads every mapped cell of a row by its type. The first invalid cell fails the row. */
export function mapRow(source: CsvRow, columns: readonly Column[], emptyValues: Import['emptyValues']): MappedRow {
  if (source.error) return { failure: unreadable(source, columns) }
  const row: ApplyBatchRequestRow = {
    row: source.row,
    email: '',
    name: '',
    attributes: {},
    tags: [],
    clearTags: false,
  }
  const attributes: [slug: string, value: unknown][] = []
  for (const column of columns) {
    const cell = unguard(source.cells[column.index] ?? '')
    const reason = readCell(row, attributes, column, cell, emptyValues === 'clear')
    if (reason !== undefined) return { failure: failureOf(source, column, cell, reason) }
  }
  // fromEntries creates own properties, even for __proto__.
  if (attributes.length > 0) row.attributes = Object.fromEntries(attributes)
  return { row }
}

/** Writes one cell to the row. @returns the reason where the cell is invalid */
function readCell(
  row: ApplyBatchRequestRow,
  attributes: [string, unknown][],
  { target, definition }: Column,
  cell: string,
  clears: boolean,
): string | undefined {
  const blank = cell.trim() === ''
  const readField = fieldReaders.get(target)
  if (readField) return readField(row, cell, { blank, clears })
  if (!definition) return 'is not an attribute any more'
  if (!blank) return take(readAttribute(cell, definition), value => attributes.push([target, value]))
  if (clears) attributes.push([target, null])
  return undefined
}

function take<T>({ value, reason }: Value<T>, keep: (value: T) => unknown): string | undefined {
  if (reason === undefined) keep(value as T)
  return reason
}

function readAttribute(cell: string, { type, options }: Definition): Value<unknown> {
  switch (type) {
    case 'number':
      return readNumber(cell)
    case 'boolean':
      return readBoolean(cell)
    case 'date':
      return readDate(cell)
    case 'enum':
      return readOption(cell, options)
    default:
      return { value: cell } // not trimmed
  }
}

function failureOf(source: CsvRow, { header, target, definition }: Column, cell: string, reason: string): RowFailure {
  const field = definition ? `attributes.${target}` : target
  const { row, line } = source
  return {
    row,
    line,
    column: header,
    field,
    value: cell,
    code: `invalid_${definition ? 'attribute' : target}`,
    message: `${header} ${reason}`,
  }
}

function unreadable({ row, line, cells, error }: CsvRow, columns: readonly Column[]): RowFailure {
  const { code, message, column: index } = error!
  const column = columns.find(candidate => candidate.index === index)
  return {
    row,
    line,
    column: column?.header ?? null,
    field: column?.target ?? null,
    value: cells[index] ?? '',
    code,
    message,
  }
}
