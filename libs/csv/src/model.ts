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

/** All supported encodings. In each of them the bytes of a text can be counted exactly, as resuming requires. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | (typeof singleByteEncodings)[number]

/** A position between two records, from which another process can resume. */
export type Checkpoint = {
  /** Bytes of the original file before this position. */
  offset: number
  /** Data rows before this position. */
  row: number
  /** Physical line that starts here, from 1. */
  line: number
}

/** The format of a file, detected from its first bytes. Plain JSON, stored with the file. */
export type CsvFormat = {
  encoding: Encoding
  /** One character. */
  delimiter: string
  /** Trimmed, unguarded, not blank, unique. May contain `__proto__`: do not use them as keys of a plain object. */
  headers: string[]
  /** Start of the first data row. */
  start: Checkpoint
}

/** Limits of a file. Lengths are in characters (UTF-16 units). */
export type CsvLimits = {
  rows: number
  columns: number
  fieldLength: number
}

/** The limits that apply unless others are given. */
export const defaultLimits: CsvLimits = { rows: 1_000_000, columns: 256, fieldLength: 64 * 1024 }

/**
 * Why a row failed: `encoding` bytes that are invalid in the file's encoding · `nul` a NUL character · `quote` unpaired
 * quotes · `columns` a value beyond the last header · `length` a field over its limit · `uncorrected` a value that
 * failed before and is unchanged in the error file.
 */
export type RowErrorCode = 'encoding' | 'nul' | 'quote' | 'columns' | 'length' | 'uncorrected'

/** The error of a row. `column` is the index of the cell, as in `headers`. */
export type RowError = { code: RowErrorCode; message: string; column: number }

/** A data row of a file. */
export type Row = {
  /** Number of the data row, from 1. */
  row: number
  /** Physical line on which it starts, from 1. */
  line: number
  /**
   * The cells as in the file, one per header; `unguard` restores what `csvRow` was given. For a row with an error: what
   * could be read, with surplus values appended to the last cell.
   * A cell may keep its whole chunk of the file in memory: copy cells that outlive the batch.
   */
  cells: string[]
  error: RowError | null
}

/** Rows in file order, and the position after them. */
export type Batch = { rows: Row[]; checkpoint: Checkpoint }

/**
 * Why a whole file is rejected: `empty` no content · `binary` not text · `encoding` unsupported encoding · `headers`
 * invalid first row · `rows` more rows than allowed.
 */
export type CsvErrorCode = 'empty' | 'binary' | 'encoding' | 'headers' | 'rows'

/** Thrown when a whole file is rejected. `message` is for the user who uploaded it. */
export class CsvError extends Error {
  override name = 'CsvError'
  readonly code: CsvErrorCode

  constructor(code: CsvErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
