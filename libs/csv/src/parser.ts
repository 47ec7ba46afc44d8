import type { Checkpoint, CsvLimits, Row, RowError, RowErrorCode } from './model.ts'

const QUOTE = 0x22
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** How much is kept, for showing, of a field that is longer than allowed. */
const keptOfLongField = 100

export type ParserOptions = {
  delimiter: string
  limits: Pick<CsvLimits, 'columns' | 'fieldLength'>
  /** Cells of each row: missing ones are blank, more of them an error. Without it a row has the cells it has. */
  columns?: number
  /** Where the text begins. */
  from: Checkpoint
  /** How many bytes of the file a text was. */
  byteLength: (text: string) => number
}

type Progress = 'field' | 'record' | 'more'

/**
 * Takes the text of a file in pieces of any size and gives its rows. What it gives depends on the text alone, never on
 * where the pieces end, so that reading on from a checkpoint repeats nothing and misses nothing.
 *
 * Quotes: RFC 4180, and a quote within an unquoted field is a character like any other. A quoted field that outgrows
 * the limit, meets the end of the file or is followed by more text was not meant so: then the row where it opened fails,
 * and the line after that is read as if nothing had been.
 */
export class CsvParser {
  readonly #delimiter: string
  readonly #delimiterCode: number
  readonly #columns: number
  readonly #padded: boolean
  readonly #fieldLength: number
  readonly #byteLength: (text: string) => number

  /** Text not yet turned into rows; what is before #pos is done with. */
  #text = ''
  #pos = 0
  #takenBefore = 0
  #ended = false
  /** A CR at the end of a piece waits here until it is known whether an LF follows. */
  #heldCr = ''
  /** Whether the text, or a cell still to be given, holds a NUL or bytes that were no text. */
  #damaged = false
  /** The next of each from #pos on: -1 not looked for yet, Infinity none in sight. */
  #nextDelimiter = -1
  #nextLf = -1
  #nextCr = -1
  #close = -1

  /** The byte offset of #text[#mark]. */
  #offset: number
  #mark = 0
  #row: number
  #line: number

  /** The record being read: its first line, its cells so far, the first thing wrong with it. */
  #recordLine: number
  #cells: string[] = []
  #error: RowError | null = null
  /** After an unpaired quote the rest of the line is one literal field. */
  #literal = false
  /** The beginning of a field over the limit, whose characters are let go as they come. */
  #kept: string | null = null

  constructor({ delimiter, limits, columns, from, byteLength }: ParserOptions) {
    this.#delimiter = delimiter
    this.#delimiterCode = delimiter.charCodeAt(0)
    this.#columns = columns ?? limits.columns
    this.#padded = columns !== undefined
    this.#fieldLength = limits.fieldLength
    this.#byteLength = byteLength
    this.#offset = from.offset
    this.#row = from.row
    this.#line = from.line
    this.#recordLine = from.line
  }

  /** Adds text. Take all rows with `next()` before adding more. A surrogate pair must not be split between pieces. */
  push(more: string): void {
    this.#settleOffset()
    const rest = this.#text.slice(this.#pos)
    const stillDamaged = this.#damaged && (isDamaged(rest) || this.#cells.some(isDamaged))
    this.#damaged = stillDamaged || isDamaged(more)
    this.#takenBefore += this.#pos
    const added = this.#heldCr + more
    this.#heldCr = added.endsWith('\r') && !this.#ended ? '\r' : ''
    this.#text = rest + (this.#heldCr ? added.slice(0, -1) : added)
    this.#pos = this.#mark = 0
    this.#nextDelimiter = this.#nextLf = this.#nextCr = -1
  }

  /** Says that no more text comes. */
  end(): void {
    this.#ended = true
    this.push('')
  }

  /** The next row; null when it takes more text or, after `end()`, when there is none. Blank lines are no rows. */
  next(): Row | null {
    for (;;) {
      const progress = this.#readPlainRecord() ? 'record' : this.#readField()
      if (progress === 'more') return null
      if (progress === 'record') {
        const row = this.#finishRecord()
        if (row) return row
      }
    }
  }

  /** Characters taken so far; the row just given ends there. */
  get taken(): number {
    return this.#takenBefore + this.#pos
  }

  /** The place behind the row just given; after the last one, the end of the file. */
  get checkpoint(): Checkpoint {
    this.#settleOffset()
    return { offset: this.#offset, row: this.#row, line: this.#recordLine }
  }

  /**
   * Takes what nearly every record is: one line that is in sight, and no field too long. Of any other it takes nothing
   * and leaves it to #readField.
   */
  #readPlainRecord(): boolean {
    const text = this.#text
    let pos = this.#pos
    const begun = this.#cells.length > 0 || this.#literal || this.#kept !== null
    if (begun || pos === text.length) return false
    const lineEnd = this.#findLineEnd(text, pos)
    if (lineEnd - pos > this.#fieldLength) return false

    const nextDelimiter = this.#nextDelimiter
    const cells: string[] = []
    while (cells.length < this.#columns) {
      let end: number
      if (text.charCodeAt(pos) === QUOTE) {
        const cell = this.#unquote(text, pos)
        end = this.#close + 1
        const closed = end > 0 && (end === lineEnd || (end < lineEnd && text.charCodeAt(end) === this.#delimiterCode))
        if (!closed) break
        cells.push(cell)
      } else {
        end = Math.min(this.#findDelimiter(text, pos), lineEnd)
        cells.push(text.slice(pos, end))
      }
      if (end === lineEnd) {
        this.#cells = cells
        this.#endLine(text, lineEnd)
        return true
      }
      pos = end + 1
    }
    this.#nextDelimiter = nextDelimiter
    return false
  }

  #readField(): Progress {
    const text = this.#text
    const pos = this.#pos
    if (pos === text.length) {
      const begun = this.#cells.length > 0 || this.#kept !== null
      if (!this.#ended || !begun) return 'more'
    }
    const atStart = !this.#literal && this.#kept === null
    if (atStart && text.charCodeAt(pos) === QUOTE) return this.#readQuoted(text, pos)

    const lineEnd = this.#findLineEnd(text, pos)
    const delimiter = this.#literal ? Infinity : this.#findDelimiter(text, pos)
    if (delimiter < lineEnd) {
      this.#add(text.slice(pos, delimiter))
      this.#pos = delimiter + 1
      return 'field'
    }
    if (lineEnd !== Infinity) {
      this.#add(text.slice(pos, lineEnd))
      this.#endLine(text, lineEnd)
      return 'record'
    }
    if (text.length - pos > this.#fieldLength) this.#letGo(text, pos)
    return 'more'
  }

  #readQuoted(text: string, pos: number): Progress {
    const cell = this.#unquote(text, pos)
    const close = this.#close
    const after = close === -1 ? text.length : this.#skipBlanks(text, close + 1)
    const quotes = 2
    if (after - pos > this.#fieldLength + quotes) return this.#unpaired('a quoted field is too long or never closed')
    if (after === text.length && !this.#ended) return 'more'
    if (close === -1) return this.#unpaired('a quoted field is never closed')

    const code = text.charCodeAt(after)
    const endsField = code === this.#delimiterCode
    if (!endsField && code !== LF && code !== CR && after < text.length) {
      return this.#unpaired('text follows a closing quote')
    }
    if (this.#findLineEnd(text, pos) < close) this.#line += text.slice(pos, close).match(/\r\n?|\n/g)!.length
    this.#add(cell)
    if (endsField) {
      this.#pos = after + 1
      return 'field'
    }
    this.#endLine(text, after)
    return 'record'
  }

  /** What the quoted field at `pos` says; #close is then the index of its closing quote, -1 where none is in sight. */
  #unquote(text: string, pos: number): string {
    let from = pos + 1
    let close = text.indexOf('"', from)
    let cell = ''
    while (close !== -1 && text.charCodeAt(close + 1) === QUOTE) {
      cell += text.slice(from, close + 1)
      from = close + 2
      close = text.indexOf('"', from)
    }
    this.#close = close
    return cell + text.slice(from, close)
  }

  #skipBlanks(text: string, from: number): number {
    let at = from
    for (let code = text.charCodeAt(at); code === SPACE || code === TAB; code = text.charCodeAt(++at)) {
      if (code === this.#delimiterCode) break
    }
    return at
  }

  /** Takes the quote at #pos for a mistake: its row fails, and the rest of its line is taken as it stands. */
  #unpaired(message: string): Progress {
    this.#fail('quote', message)
    this.#literal = true
    return this.#readField()
  }

  #findDelimiter(text: string, from: number): number {
    if (this.#nextDelimiter < from) this.#nextDelimiter = find(text, this.#delimiter, from)
    return this.#nextDelimiter
  }

  /** Where the line ends that goes on at `from`; Infinity where its end has not come yet. */
  #findLineEnd(text: string, from: number): number {
    if (this.#nextLf < from) this.#nextLf = find(text, '\n', from)
    if (this.#nextCr < from) this.#nextCr = find(text, '\r', from)
    const end = Math.min(this.#nextLf, this.#nextCr)
    return end === Infinity && this.#ended ? text.length : end
  }

  #endLine(text: string, at: number): void {
    const width = text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? 2 : 1
    this.#pos = Math.min(at + width, text.length)
    this.#line += 1
  }

  #letGo(text: string, pos: number): void {
    this.#kept ??= this.#shorten(text.slice(pos))
    this.#pos = text.length
  }

  #shorten(cell: string): string {
    this.#fail('length', `a field is longer than ${this.#fieldLength} characters`)
    return readable(cell.slice(0, Math.min(this.#fieldLength, keptOfLongField)))
  }

  #add(cell: string): void {
    if (this.#kept !== null) {
      cell = this.#kept
      this.#kept = null
    } else if (cell.length > this.#fieldLength) {
      cell = this.#shorten(cell)
    }
    if (this.#cells.length < this.#columns) this.#cells.push(cell)
    else if (!isBlank(cell)) this.#addSurplus(cell)
  }

  /** Values beyond the last column are added to it: as a rule they are one text, with delimiters and without quotes. */
  #addSurplus(cell: string): void {
    this.#fail('columns', `there are more values than the ${this.#columns} columns`)
    const last = this.#cells.pop()!
    const isFull = last.length >= this.#fieldLength
    const joined = isFull ? last : last + this.#delimiter + cell
    this.#cells.push(joined.length > this.#fieldLength ? readable(joined.slice(0, this.#fieldLength)) : joined)
  }

  #fail(code: RowErrorCode, message: string): void {
    this.#error ??= { code, message, column: Math.min(this.#cells.length, this.#columns - 1) }
  }

  #finishRecord(): Row | null {
    const cells = this.#cells
    const line = this.#recordLine
    this.#cells = []
    this.#recordLine = this.#line
    this.#literal = false
    if (this.#error === null && cells.every(isBlank)) return null
    if (this.#damaged) this.#findDamage(cells)
    const error = this.#error
    this.#error = null
    if (this.#padded) while (cells.length < this.#columns) cells.push('')
    return { row: ++this.#row, line, cells, error }
  }

  #findDamage(cells: string[]): void {
    for (const [column, cell] of cells.entries()) {
      if (!cell.isWellFormed()) this.#error ??= { code: 'encoding', message: 'bytes that are no text', column }
      else if (cell.includes('\0')) this.#error ??= { code: 'nul', message: 'a NUL character', column }
      cells[column] = readable(cell)
    }
  }

  #settleOffset(): void {
    if (this.#mark === this.#pos) return
    this.#offset += this.#byteLength(this.#text.slice(this.#mark, this.#pos))
    this.#mark = this.#pos
  }
}

function find(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from)
  return at === -1 ? Infinity : at
}

function isBlank(cell: string): boolean {
  const first = cell.charCodeAt(0)
  const isPrinted = first > SPACE && first < 0x7f
  return !isPrinted && cell.trim() === ''
}

const isDamaged = (text: string): boolean => !text.isWellFormed() || text.includes('\0')

/** The text with a replacement character for all that cannot be shown. */
const readable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
