import { createDecoder } from './decode.ts'
import { detectFormat, doubtUtf8, headBytes, type Utf8Doubt } from './detect.ts'
import { correctionCheck } from './error-file.ts'
import {
  type Batch,
  type Checkpoint,
  CsvError,
  type CsvFormat,
  type CsvLimits,
  defaultLimits,
  type Encoding,
  type Row,
} from './model.ts'
import { CsvParser } from './parser.ts'
import { createSlices } from './slices.ts'

/** Bytes of a file in order, in pieces of any size. */
export type ByteSource = AsyncIterable<Uint8Array>

export type OpenOptions = {
  /** The encoding, where an earlier reading of the file has found it: see `CsvReading.otherEncoding`. */
  encoding?: Encoding
  limits?: CsvLimits
}

/**
 * Looks at the beginning of a file.
 * @returns how to read it, and the bytes from its first data row on, for `readCsv`
 * @throws {CsvError} empty, binary, encoding or headers: the file cannot be read, and the source is closed
 */
export async function openCsv(
  source: ByteSource,
  options: OpenOptions = {},
): Promise<{ format: CsvFormat; body: ByteSource }> {
  const rest = source[Symbol.asyncIterator]()
  try {
    const { head, complete } = await readHead(rest)
    const format = detectFormat(head.subarray(0, headBytes), {
      ...options,
      complete: complete && head.length <= headBytes,
    })
    return { format, body: followedBy(head.subarray(format.start.offset), rest) }
  } catch (error) {
    await rest.return?.()
    throw error
  }
}

async function readHead(source: AsyncIterator<Uint8Array>): Promise<{ head: Buffer; complete: boolean }> {
  const chunks: Uint8Array[] = []
  for (let size = 0; size <= headBytes; size += chunks.at(-1)!.length) {
    const { done, value } = await source.next()
    if (done) return { head: Buffer.concat(chunks), complete: true }
    chunks.push(value)
  }
  return { head: Buffer.concat(chunks), complete: false }
}

async function* followedBy(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield head
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

export type ReadOptions = {
  /** Where `source` begins: `format.start` unless said otherwise, or the checkpoint of an earlier reading. */
  from?: Checkpoint
  limits?: CsvLimits
  /** A batch ends with so many rows, or sooner where their text comes to `batchLength` characters. */
  batchRows?: number
  batchLength?: number
}

export type CsvReading = AsyncIterable<Batch> & {
  /**
   * To be asked after the last batch of a whole file: the encoding it rather has, where it was read as UTF-8 and its
   * first bytes that are not came too late for `openCsv` to see. Then open and read it again with this encoding.
   * @throws {CsvError} encoding: it is one that cannot be read
   */
  otherEncoding(): Encoding | null
}

/**
 * Reads the rows of a file in batches, to be iterated once. Batches end at the same rows whatever pieces the bytes come
 * in, and a reading that starts at a batch's checkpoint gives exactly the batches after it. A row that cannot be read
 * carries its error; rows after it do not suffer. Gives the event loop its turn after every 5 ms of work, and takes turns
 * with all other readings of the process.
 * Memory is bounded by the limits, not by the file.
 * @throws {CsvError} rows: more of them than allowed; and whatever the source throws
 */
export function readCsv(source: ByteSource, format: CsvFormat, options: ReadOptions = {}): CsvReading {
  const doubt = format.encoding === 'utf-8' ? doubtUtf8() : null
  const batches = readBatches(source, format, options, doubt)
  return { [Symbol.asyncIterator]: () => batches, otherEncoding: () => doubt?.otherEncoding() ?? null }
}

async function* readBatches(
  source: ByteSource,
  { encoding, delimiter, headers, start }: CsvFormat,
  { from = start, limits = defaultLimits, batchRows = 1000, batchLength = 1024 * 1024 }: ReadOptions,
  doubt: Utf8Doubt | null,
): AsyncGenerator<Batch> {
  const { decode, end, byteLength } = createDecoder(encoding)
  const parser = new CsvParser({ delimiter, limits, columns: headers.length, from, byteLength })
  const checkCorrection = correctionCheck(headers)
  let rows: Row[] = []
  let takenBefore = 0

  /** Fills the batch; true when it is full, false when the parser has no more rows for now. */
  const fill = (): boolean => {
    for (let row = parser.next(); row; row = parser.next()) {
      if (row.row > limits.rows) throw new CsvError('rows', `the file has more than ${limits.rows} rows`)
      if (checkCorrection) row.error ??= checkCorrection(row)
      rows.push(row)
      if (rows.length >= batchRows || parser.taken - takenBefore >= batchLength) return true
    }
    return false
  }
  const takeBatch = (): Batch => {
    const batch = { rows, checkpoint: parser.checkpoint }
    rows = []
    takenBefore = parser.taken
    return batch
  }

  const giveWay = createSlices()
  for await (const piece of piecesOf(source)) {
    const text = decode(piece)
    doubt?.see(piece, text)
    parser.push(text)
    while (fill()) {
      yield takeBatch()
      await giveWay()
    }
    await giveWay()
  }
  parser.push(end())
  parser.end()
  while (fill()) yield takeBatch()
  if (rows.length > 0) yield takeBatch()
}

const smallestPiece = 16 * 1024
const largestPiece = 32 * 1024

/** The same bytes in pieces that are worth their overhead and short enough to leave the event loop its turns. */
async function* piecesOf(source: ByteSource): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = []
  let size = 0
  for await (const chunk of source) {
    waiting.push(chunk)
    size += chunk.length
    if (size < smallestPiece) continue
    const bytes = waiting.length === 1 ? asBuffer(chunk) : Buffer.concat(waiting)
    for (let at = 0; at < size; at += largestPiece) yield bytes.subarray(at, at + largestPiece)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
