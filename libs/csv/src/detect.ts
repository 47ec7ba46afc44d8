import chardet from 'chardet'
import { createDecoder, damageOf } from './decode.ts'
import { isReportColumn, REPORT_COLUMN_COUNT } from './error-file.ts'
import {
  CsvError,
  type CsvFormat,
  type CsvLimits,
  defaultLimits,
  type Encoding,
  type Row,
  singleByteEncodings,
} from './model.ts'
import { CsvParser } from './parser.ts'
import { unguard } from './write.ts'

/** Bytes of a file that are inspected before it is read. The first row must fit. */
export const HEAD_BYTES = 64 * 1024

type Known = {
  /** Whether `head` is the whole file. */
  complete: boolean
  /** The encoding, if an earlier read of the file has detected it. */
  encoding?: Encoding
  limits?: CsvLimits
}

/**
 * Detects the format of a file from its first bytes: encoding, delimiter, headers and start of the data.
 * @throws {CsvError} empty, binary, encoding or headers
 */
export function detectFormat(head: Buffer, { complete, encoding, limits = defaultLimits }: Known): CsvFormat {
  if (head.length === 0) throw new CsvError('empty', 'the file is empty')
  rejectOtherFormats(head)
  const mark = byteOrderMark(head)
  const found = encoding ?? mark?.encoding ?? unmarkedUtf16(head) ?? byteEncoding(head)
  const decoder = createDecoder(found)
  const bytesOfMark = mark?.bytes ?? 0
  const text = decoder.decode(head.subarray(bytesOfMark)) + (complete ? decoder.end() : '')
  rejectBinary(text)

  const [hint = '', named] = SEPARATOR_LINE.exec(text) ?? []
  const body = text.slice(hint.length)
  const widest = { ...limits, columns: limits.columns + REPORT_COLUMN_COUNT }
  const delimiter = named ?? detectDelimiter(body, complete, widest)
  const from = { offset: bytesOfMark + decoder.byteLength(hint), row: 0, line: hint === '' ? 1 : 2 }
  const parser = new CsvParser({ delimiter, limits: widest, from, byteLength: decoder.byteLength })
  parser.push(body)
  if (complete) parser.end()
  const headers = headersOf(parser.next(), complete, limits)
  return { encoding: found, delimiter, headers, start: { ...parser.checkpoint, row: 0 } }
}

/** Excel's line before the headers that names the delimiter. */
const SEPARATOR_LINE = /^"?sep=([^\w"\r\n])"?(?:\r\n|\r|\n)/i

function headersOf(row: Row | null, complete: boolean, { columns }: CsvLimits): string[] {
  const refuse = (reason: string) => new CsvError('headers', `the first row cannot be used as headers: ${reason}`)
  if (row === null) {
    throw complete ? new CsvError('empty', 'the file is empty') : refuse(`it is longer than ${HEAD_BYTES / 1024} KiB`)
  }
  const headers = row.cells.map(cell => unguard(cell).trim())
  // An error file has the columns of its source file and its own.
  const own = headers.filter(header => !isReportColumn(header))
  if (own.length > columns) throw refuse(`there are more values than the ${columns} columns`)
  if (row.error) throw refuse(row.error.message)
  const blank = headers.indexOf('')
  if (blank !== -1) throw refuse(`column ${blank + 1} is blank`)
  const seen = new Set<string>()
  const repeated = headers.find(header => seen.has(header) || !seen.add(header))
  if (repeated !== undefined) throw refuse(`"${repeated}" appears twice`)
  return headers
}

// Encoding

function byteOrderMark(head: Buffer): { encoding: Encoding; bytes: number } | null {
  if (startsWith(head, 'efbbbf')) return { encoding: 'utf-8', bytes: 3 }
  if (startsWith(head, 'fffe')) return { encoding: 'utf-16le', bytes: 2 }
  if (startsWith(head, 'feff')) return { encoding: 'utf-16be', bytes: 2 }
  return null
}

/** Detects UTF-16 without a mark: the zero bytes of ASCII characters are all at even or all at odd offsets. */
function unmarkedUtf16(head: Buffer): Encoding | null {
  const zeros = [0, 0] as [number, number]
  for (let at = 0; at < head.length; at++) if (head[at] === 0) zeros[(at & 1) as 0 | 1] += 1
  const [even, odd] = zeros
  const units = head.length / 2
  const [many, few] = [Math.max(3, units * 0.2), units * 0.01]
  if (odd >= many && even <= few) return 'utf-16le'
  if (even >= many && odd <= few) return 'utf-16be'
  return null
}

/** Detects the encoding of text whose ASCII characters are one byte each. */
function byteEncoding(head: Buffer): Encoding {
  rejectBinary(head.toString('latin1'))
  const doubt = doubtUtf8()
  doubt.see(head, createDecoder('utf-8').decode(head))
  return doubt.otherEncoding() ?? 'utf-8'
}

/** Detects that a file read as UTF-8 has another encoding. */
export type Utf8Doubt = {
  /** Inspects bytes and the text that they were decoded to. */
  see(bytes: Buffer, text: string): void
  /**
   * Returns the likely encoding of the file, or null for UTF-8. It is UTF-8 if it has more valid bytes beyond ASCII
   * than invalid ones: valid sequences do not occur by chance.
   * @throws {CsvError} encoding: the encoding is not supported
   */
  otherEncoding(): Encoding | null
}

export function doubtUtf8(): Utf8Doubt {
  const damagedPieces: Buffer[] = []
  let damaged = 0
  let beyondAscii = 0
  return {
    see(bytes, text) {
      const damage = damageOf(text)
      damaged += damage
      beyondAscii += bytes.length - text.length
      if (damage > 0 && damagedPieces.length < 4) damagedPieces.push(bytes)
    },
    otherEncoding: () => (damaged > beyondAscii ? legacyEncoding(Buffer.concat(damagedPieces)) : null),
  }
}

/** chardet's names for encodings of Windows, and the encodings to read instead. */
const windowsNames: Record<string, Encoding> = {
  'iso-8859-1': 'windows-1252',
  'iso-8859-7': 'windows-1253',
  'iso-8859-8': 'windows-1255',
  'iso-8859-9': 'windows-1254',
}
const MULTI_BYTE = /^(?:shift_jis|big5|gb18030|euc-|iso-2022-)/
const FALLBACK: Encoding = 'windows-1252'

const isSingleByte = (name: string): name is Encoding => (singleByteEncodings as readonly string[]).includes(name)

const MAX_SAMPLE_BYTES = 8 * 1024
const codesOf = (characters: string): ReadonlySet<number> => new Set(Buffer.from(characters, 'latin1'))
const beforeWord = codesOf(' \t\n\v\f\r,;|"@.')
const afterText = codesOf(',;|"\r\n\t')

/**
 * Returns words with bytes beyond ASCII and the text that follows them, as a sample to detect the encoding. The ASCII
 * of addresses and numbers has no information about the language. Reads each byte at most twice.
 */
export function foreignWords(sample: Buffer): Buffer {
  const words: Buffer[] = []
  let size = 0
  let end = 0
  for (let at = 0; at < sample.length && size < MAX_SAMPLE_BYTES; at++) {
    if (sample[at]! < 0x80) continue
    let start = at
    while (start > end && !beforeWord.has(sample[start - 1]!)) start--
    end = at + 1
    while (end < sample.length && !afterText.has(sample[end]!)) end++
    words.push(sample.subarray(start, end), space)
    size += end - start
    at = end
  }
  return Buffer.concat(words).subarray(0, MAX_SAMPLE_BYTES)
}

const space = Buffer.from(' ')

function legacyEncoding(sample: Buffer): Encoding {
  const guesses = chardet.analyse(foreignWords(sample)).map(({ name, confidence }) => {
    const lower = name.toLowerCase()
    return { encoding: windowsNames[lower] ?? lower, confidence }
  })
  const [best] = guesses
  if (!best) return FALLBACK
  if (MULTI_BYTE.test(best.encoding) && best.confidence >= 50) {
    throw new CsvError('encoding', `the file is written in ${best.encoding}, which cannot be read; save it as UTF-8`)
  }
  const western = guesses.find(guess => guess.encoding === FALLBACK)?.confidence ?? 0
  const clearlyBetter = guesses.find(guess => isSingleByte(guess.encoding) && guess.confidence > western + 10)
  return clearlyBetter && isSingleByte(clearlyBetter.encoding) ? clearlyBetter.encoding : FALLBACK
}

// Files that are not CSV

const startsWith = (head: Buffer, hex: string): boolean => head.subarray(0, hex.length / 2).toString('hex') === hex

const magic: [hex: string, what: string][] = [
  ['504b0304', 'an Excel workbook or a ZIP archive'],
  ['504b0506', 'an empty ZIP archive'],
  ['d0cf11e0a1b11ae1', 'an Excel workbook of the old kind'],
  ['25504446', 'a PDF document'],
  ['1f8b', 'compressed with gzip'],
  ['425a68', 'compressed with bzip2'],
  ['377abcaf271c', 'a 7z archive'],
  ['526172211a07', 'a RAR archive'],
  ['fd377a585a00', 'compressed with xz'],
  ['28b52ffd', 'compressed with zstd'],
]

function rejectOtherFormats(head: Buffer): void {
  const found = magic.find(([hex]) => startsWith(head, hex))
  if (found) throw new CsvError('binary', `the file is ${found[1]}, not CSV; export the sheet as CSV`)
  if (startsWith(head, 'fffe0000') || startsWith(head, '0000feff')) {
    throw new CsvError('encoding', 'the file is written in UTF-32, which cannot be read; save it as UTF-8')
  }
  if (/^\s*<(?:!doctype|html|table|\?xml)\b/i.test(head.toString('latin1', 0, 200))) {
    throw new CsvError('binary', 'the file is a web page or XML, not CSV')
  }
}

/** Rejects a text with more than one control character in fifty. Fewer are errors of their rows. */
function rejectBinary(text: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are counted here
  const odd = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0
  if (odd > 2 + text.length / 50) throw new CsvError('binary', 'the file is not a text file')
}

// Delimiter

const delimiters = [',', ';', '\t', '|']
const MAX_SAMPLE_ROWS = 100

/**
 * Returns the delimiter with which most rows have as many columns as the first row; on a tie, the one with more
 * columns.
 */
function detectDelimiter(text: string, complete: boolean, limits: CsvLimits): string {
  const candidates = delimiters.map(delimiter => ({ delimiter, ...agreement(text, delimiter, complete, limits) }))
  candidates.sort((a, b) => b.share - a.share || b.columns - a.columns)
  return candidates[0]!.delimiter
}

function agreement(text: string, delimiter: string, complete: boolean, limits: CsvLimits) {
  const from = { offset: 0, row: 0, line: 1 }
  const parser = new CsvParser({ delimiter, limits, from, byteLength: piece => piece.length })
  parser.push(text)
  if (complete) parser.end()
  const columns = parser.next()?.cells.length ?? 0
  if (columns < 2) return { share: 0, columns: 0 }
  let rows = 1
  let agreeing = 1
  for (let row = parser.next(); row && rows < MAX_SAMPLE_ROWS; row = parser.next()) {
    rows += 1
    if (row.error) continue
    // Missing cells at the end are common in real files; surplus cells are not.
    agreeing += row.cells.length === columns ? 1 : row.cells.length < columns ? 0.5 : 0
  }
  return { share: agreeing / rows, columns }
}
