import { Types } from 'mongoose'

/** What a column has of a record that no comparison by type reads, by its code. */
export const SPECIALS = {
  missing: 0,
  null: 1,
  false: 2,
  true: 3,
  /** A long text, or a kind of value that columns do not hold: only the record decides. */
  unreadable: 4,
} as const

/** A single value that a column holds. */
export type Scalar = null | boolean | number | Date | Types.ObjectId | string

/**
 * The values of one field in a row group, as a dictionary and a code for each row. The dictionary has its kinds in this
 * order: specials, numbers, dates, ids, texts, arrays.
 */
export type Column = {
  specials: readonly number[]
  numbers: Float64Array
  /** In milliseconds since 1970. */
  dates: Float64Array
  /** Bytes of ids and of texts (UTF-8), each byte a character: so they compare as the database compares them. */
  ids: string
  text: string
  /** Where each text ends. */
  ends: Uint32Array
  /** For each array the codes of its items, which are no arrays. */
  arrays: readonly Uint16Array[]
  /** Undefined where each row has a value of its own, in their order. */
  codes: Uint8Array | Uint16Array | undefined
}

/** A column as it is stored; what it does not have is left out. */
export type StoredColumn = {
  specials?: number[]
  numbers?: Uint8Array
  dates?: Uint8Array
  ids?: Uint8Array
  text?: Uint8Array
  ends?: Uint8Array
  arrays?: Uint8Array
  codes?: Uint8Array
}

/** Bytes of an id. */
export const ID_BYTES = 12
/** Longer texts are unreadable, so that a column is small whatever the records hold. */
const MAX_TEXT_BYTES = 256
/** Values of a dictionary; a column with more, such as many tags on every record, is unreadable as a whole. */
const MAX_VALUES = 2 ** 16
const MAX_BYTES = 2 ** 21
/** Longer arrays are unreadable. */
const MAX_ITEMS = 1000

/** Collects the values of a field by row, and keeps no more of them than the column will hold. */
export type ColumnEncoder = {
  set(row: number, value: unknown): void
  /** Rows without a value are missing it. */
  encode(rows: number): StoredColumn
}

/** Creates an encoder. */
export function createColumnEncoder(): ColumnEncoder {
  const dictionary = createDictionary()
  const entries: Entry[] = []
  return {
    set(row, value) {
      entries[row] = dictionary.entryOf(value)
    },
    encode(rows) {
      const all = Array.from({ length: rows }, (_, row) => entries[row] ?? dictionary.entryOf(undefined))
      return dictionary.isTooLarge() ? unreadable : dictionary.encode(all)
    },
  }
}

/** Every row has the dictionary's only value. */
const unreadable: StoredColumn = { specials: [SPECIALS.unreadable] }

const noNumbers = new Float64Array()
const noEnds = new Uint32Array()

/** The column of a field that no record of a row group has. */
export const absentColumn: Column = decodeColumn({ specials: [SPECIALS.missing] })

/** Decodes a stored column. */
export function decodeColumn(stored: StoredColumn): Column {
  const { specials = [], numbers, dates, ids, text, ends, arrays, codes } = stored
  const column = {
    specials,
    numbers: numbers ? new Float64Array(aligned(numbers)) : noNumbers,
    dates: dates ? new Float64Array(aligned(dates)) : noNumbers,
    ids: ids ? latinOf(ids) : '',
    text: text ? latinOf(text) : '',
    ends: ends ? new Uint32Array(aligned(ends)) : noEnds,
    arrays: arrays ? arraysOf(new Uint16Array(aligned(arrays))) : [],
  }
  return { ...column, codes: codesOf(sizeOf(column), codes) }
}

/** Number of values in the dictionary, of which `scalarsOf` are no arrays. */
export function sizeOf(column: Omit<Column, 'codes'>): number {
  return scalarsOf(column) + column.arrays.length
}

export function scalarsOf({ specials, numbers, dates, ids, ends }: Omit<Column, 'codes'>): number {
  return specials.length + numbers.length + dates.length + ids.length / ID_BYTES + ends.length
}

/** A value and its number among those of its kind. */
type Entry = { kind: 'specials' | 'numbers' | 'dates' | 'ids' | 'texts' | 'arrays'; index: number }

/** Collects distinct values. */
function createDictionary() {
  const specials: number[] = []
  const numbers: number[] = []
  const dates: number[] = []
  const ids: string[] = []
  const texts: string[] = []
  const arrays: Entry[][] = []
  const known = {
    specials: new Map<number, Entry>(),
    numbers: new Map<number, Entry>(),
    dates: new Map<number, Entry>(),
    ids: new Map<string, Entry>(),
    texts: new Map<string, Entry>(),
    arrays: new Map<string, Entry>(),
  }
  let bytes = 0

  /** Returns the entry of a value, which is added if it is new. */
  const add = <V, S>(kind: Entry['kind'], key: V, list: S[], value: S): Entry => {
    const entries = known[kind] as Map<unknown, Entry>
    const found = entries.get(key)
    if (found) return found
    const entry = { kind, index: list.push(value) - 1 }
    entries.set(key, entry)
    return entry
  }
  const special = (code: number) => add('specials', code, specials, code)

  const textOf = (value: string): Entry => {
    if (value.length > MAX_TEXT_BYTES) return special(SPECIALS.unreadable)
    const before = texts.length
    const latin = Buffer.from(value).toString('latin1')
    if (latin.length > MAX_TEXT_BYTES || !value.isWellFormed()) return special(SPECIALS.unreadable)
    const entry = add('texts', value, texts, latin)
    if (texts.length > before) bytes += latin.length
    return entry
  }

  const scalarOf = (value: unknown): Entry => {
    if (typeof value === 'string') return textOf(value)
    if (value === undefined) return special(SPECIALS.missing)
    if (value === null) return special(SPECIALS.null)
    if (typeof value === 'boolean') return special(value ? SPECIALS.true : SPECIALS.false)
    if (typeof value === 'number' && !Number.isNaN(value)) return add('numbers', value, numbers, value)
    if (value instanceof Date) return add('dates', value.getTime(), dates, value.getTime())
    if (!(value instanceof Types.ObjectId)) return special(SPECIALS.unreadable)
    const id = Buffer.from(value.id).toString('latin1')
    return add('ids', id, ids, id)
  }

  const arrayOf = (items: readonly unknown[]): Entry => {
    if (bytes > MAX_BYTES || items.length > MAX_ITEMS) return special(SPECIALS.unreadable)
    const entries = items.map(scalarOf)
    if (entries.some(({ kind, index }) => kind === 'specials' && specials[index] === SPECIALS.unreadable))
      return special(SPECIALS.unreadable)
    bytes += 2 * entries.length
    return add('arrays', entries.map(({ kind, index }) => `${kind}${index}`).join(), arrays, entries)
  }

  /** Numbers are known once all values are: kinds follow each other. */
  const numbering = () => {
    const first = {
      specials: 0,
      numbers: specials.length,
      dates: specials.length + numbers.length,
      ids: specials.length + numbers.length + dates.length,
      texts: specials.length + numbers.length + dates.length + ids.length,
      arrays: specials.length + numbers.length + dates.length + ids.length + texts.length,
    }
    return ({ kind, index }: Entry) => first[kind] + index
  }

  return {
    entryOf: (value: unknown): Entry => (Array.isArray(value) ? arrayOf(value) : scalarOf(value)),
    isTooLarge: () =>
      specials.length + numbers.length + dates.length + ids.length + texts.length + arrays.length > MAX_VALUES ||
      bytes > MAX_BYTES,
    encode(entries: readonly Entry[]): StoredColumn {
      const number = numbering()
      const codes = entries.map(number)
      const size = number({ kind: 'arrays', index: arrays.length })
      let end = 0
      const ends = texts.map(text => {
        end += text.length
        return end
      })
      return {
        ...(specials.length > 0 && { specials }),
        ...(numbers.length > 0 && { numbers: bytesOf(new Float64Array(numbers)) }),
        ...(dates.length > 0 && { dates: bytesOf(new Float64Array(dates)) }),
        ...(ids.length > 0 && { ids: Buffer.from(ids.join(''), 'latin1') }),
        ...(texts.length > 0 && { text: Buffer.from(texts.join(''), 'latin1'), ends: bytesOf(new Uint32Array(ends)) }),
        ...(arrays.length > 0 && {
          arrays: bytesOf(new Uint16Array(arrays.flatMap(items => [items.length, ...items.map(number)]))),
        }),
        ...packedCodes(codes, size),
      }
    },
  }
}

/** Codes in as few bytes as hold them; none where there is one value, or one for each row in their order. */
function packedCodes(codes: readonly number[], size: number): Pick<StoredColumn, 'codes'> {
  const isOwn = size === codes.length && codes.every((code, row) => code === row)
  if (isOwn || size <= 1) return {}
  return { codes: size <= 2 ** 8 ? new Uint8Array(codes) : bytesOf(new Uint16Array(codes)) }
}

function codesOf(size: number, codes: Uint8Array | undefined): Column['codes'] {
  if (!codes) return undefined
  return size <= 2 ** 8 ? codes : new Uint16Array(aligned(codes))
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** A copy at the start of a buffer, as typed arrays need it. */
function aligned(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}

function latinOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function arraysOf(packed: Uint16Array): Uint16Array[] {
  const arrays: Uint16Array[] = []
  for (let at = 0; at < packed.length; ) {
    const length = packed[at]!
    arrays.push(packed.subarray(at + 1, at + 1 + length))
    at += 1 + length
  }
  return arrays
}
