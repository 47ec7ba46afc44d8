/** Encodings with one byte per character, by their WHATWG names. */
export const singleByteEncodings = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'iso-8859-2',
  'iso-8859-5',
  'iso-8859-6',
  'koi8-r',
] as const

/** Every encoding that can be read. In each of them the bytes of a text can be counted exactly, which resuming needs. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | (typeof singleByteEncodings)[number]

/** A place between two records, from which reading can go on in another process. */
export type Checkpoint = {
  /** Bytes of the file, as it came, before this place. */
  offset: number
  /** Data rows before it. */
  row: number
  /** Physical line that begins here, from 1. */
  line: number
}

/** What reading a file takes, found in its first bytes. Plain JSON: it is kept beside the file. */
export type CsvFormat = {
  encoding: Encoding
  /** One character. */
  delimiter: string
  /** Trimmed, unguarded, none blank, no two the same. May hold names such as `__proto__`: never keys of a plain object. */
  headers: string[]
  /** Where the first data row begins. */
  start: Checkpoint
}

/** What a file may ask of its reader. Lengths are in characters (UTF-16 units). */
export type CsvLimits = {
  rows: number
  columns: number
  fieldLength: number
}

export const defaultLimits: CsvLimits = { rows: 1_000_000, columns: 256, fieldLength: 64 * 1024 }

/**
 * Why a row failed: `encoding` bytes that are no text in the file's encoding · `nul` a NUL character · `quote` quotes
 * that do not pair · `columns` a value beyond the last header · `length` a field over its limit · `uncorrected` failed so
 * before, and stands in the error file as it was.
 */
export type RowErrorCode = 'encoding' | 'nul' | 'quote' | 'columns' | 'length' | 'uncorrected'

/** `column` is the index of the cell, as in `headers`. */
export type RowError = { code: RowErrorCode; message: string; column: number }

export type Row = {
  /** From 1, over data rows. */
  row: number
  /** Physical line on which it begins, from 1. */
  line: number
  /**
   * As many as there are headers, as they stand in the file: `unguard` gives what `csvRow` was given. Of a row with an
   * error: what could be read, values beyond the last header with the last one.
   * A cell may keep the whole piece of the file it was cut from alive: copy what outlives the batch.
   */
  cells: string[]
  error: RowError | null
}

/** Rows in file order and the place behind them. */
export type Batch = { rows: Row[]; checkpoint: Checkpoint }

/**
 * Why a file as a whole is refused: `empty` nothing in it · `binary` not a text · `encoding` a text, but unreadable ·
 * `headers` first row unusable · `rows` more of them than allowed.
 */
export type CsvErrorCode = 'empty' | 'binary' | 'encoding' | 'headers' | 'rows'

/** The file as a whole is refused. `message` is for the person who uploaded it. */
export class CsvError extends Error {
  override name = 'CsvError'
  readonly code: CsvErrorCode

  constructor(code: CsvErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
