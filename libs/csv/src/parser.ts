import type { Checkpoint, CsvLimits, Row, RowError, RowErrorCode } from './model.ts'

const QUOTE = 0x22
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09

/** Characters of an overlong field that are kept for display. */
const MAX_SHOWN_LENGTH = 100

/** Options of `CsvParser`. */
export type ParserOptions = {
  delimiter: string
  limits: Pick<CsvLimits, 'columns' | 'fieldLength'>
  /** Cells per row: missing ones are blank, surplus ones an error. By default rows keep their own number of cells. */
  columns?: number
  /** Position of the start of the text. */
  from: Checkpoint
  /** Returns the number of bytes that a text had in the file. */
  byteLength: (text: string) => number
}

type Progress = 'field' | 'record' | 'more'

/**
 * Parses the text of a file, pushed in chunks of any size, into rows. The rows depend only on the text, not on the
 * chunk boundaries, so resuming from a checkpoint neither repeats nor skips a row.
 *
 * Quotes follow RFC 4180; a quote within an unquoted field is an ordinary character. A quoted field that exceeds the
 * limit, reaches the end of the file or is followed by text is a mistake: the row where it opened fails, and parsing
 * continues with the next line.
 */
export class CsvParser {
  readonly #delimiter: string
  readonly #delimiterCode: number
  readonly #columns: number
  readonly #padded: boolean
  readonly #fieldLength: number
  readonly #byteLength: (text: string) => number

  /** Text not parsed yet; the part before #pos is done. */
  #text = ''
  #pos = 0
  #takenBefore = 0
  #ended = false
  /** A CR at the end of a chunk, kept until the next chunk shows whether an LF follows. */
  #heldCr = ''
  /** Whether the text or a pending cell contains a NUL or invalid bytes. */
  #damaged = false
  /** Index of the next one from #pos: -1 is unknown, Infinity is none in the text so far. */
  #nextDelimiter = -1
  #nextLf = -1
  #nextCr = -1
  #close = -1

  /** The byte offset of #text[#mark]. */
  #offset: number
  #mark = 0
  #row: number
  #line: number

  /** The current record: its first line, its cells so far, its first error. */
  #recordLine: number
  #cells: string[] = []
  #error: RowError | null = null
  /** Whether an unpaired quote makes the rest of the line one literal field. */
  #literal = false
  /** The start of an overlong field, whose other characters are discarded. */
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

  /** Adds text. Read all rows with `next()` before the next call. A chunk must not split a surrogate pair. */
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

  /** Ends the text. */
  end(): void {
    this.#ended = true
    this.push('')
  }

  /** Returns the next row; null if more text is needed or, after `end()`, if there is none. Skips blank lines. */
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

  /** Characters consumed so far, up to the end of the last returned row. */
  get taken(): number {
    return this.#takenBefore + this.#pos
  }

  /** The position after the last returned row; at the end, the end of the file. */
  get checkpoint(): Checkpoint {
    this.#settleOffset()
    return { offset: this.#offset, row: this.#row, line: this.#recordLine }
  }

  /**
   * Fast path for most records: one complete line without overlong fields. Consumes nothing of any other record and
   * leaves it to #readField.
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
    if (text.length - pos > this.#fieldLength) this.#discard(text, pos)
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

  /**
   * Returns the value of the quoted field at `pos`. Sets #close to its closing quote's index, or -1 if there is none
   * yet.
   */
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

  /** Treats the quote at #pos as a mistake: its row fails, and the rest of its line is one literal field. */
  #unpaired(message: string): Progress {
    this.#fail('quote', message)
    this.#literal = true
    return this.#readField()
  }

  #findDelimiter(text: string, from: number): number {
    if (this.#nextDelimiter < from) this.#nextDelimiter = find(text, this.#delimiter, from)
    return this.#nextDelimiter
  }

  /** Returns the end of the line at `from`; Infinity if it is not in the text yet. */
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

  #discard(text: string, pos: number): void {
    this.#kept ??= this.#shorten(text.slice(pos))
    this.#pos = text.length
  }

  #shorten(cell: string): string {
    this.#fail('length', `a field is longer than ${this.#fieldLength} characters`)
    return readable(cell.slice(0, Math.min(this.#fieldLength, MAX_SHOWN_LENGTH)))
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

  /** Appends a surplus value to the last column. Usually it is one text with unquoted delimiters. */
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
      if (!cell.isWellFormed()) this.#error ??= { code: 'encoding', message: 'bytes that are not valid text', column }
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

/** Returns the text with a replacement character for everything that cannot be displayed. */
const readable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')
