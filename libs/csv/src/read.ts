import { createDecoder } from './decode.ts'
import { detectFormat, doubtUtf8, HEAD_BYTES, type Utf8Doubt } from './detect.ts'
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

/** Options of `openCsv`. */
export type OpenOptions = {
  /** The encoding, if an earlier read of the file has detected it: see `CsvReading.otherEncoding`. */
  encoding?: Encoding
  limits?: CsvLimits
}

/**
 * Detects the format of a file.
 * @returns the format, and the bytes from the first data row on, for `readCsv`
 * @throws {CsvError} empty, binary, encoding or headers: the file is rejected, and the source is closed
 */
export async function openCsv(
  source: ByteSource,
  options: OpenOptions = {},
): Promise<{ format: CsvFormat; body: ByteSource }> {
  const rest = source[Symbol.asyncIterator]()
  try {
    const { head, complete } = await readHead(rest)
    const format = detectFormat(head.subarray(0, HEAD_BYTES), {
      ...options,
      complete: complete && head.length <= HEAD_BYTES,
    })
    return { format, body: followedBy(head.subarray(format.start.offset), rest) }
  } catch (error) {
    await rest.return?.()
    throw error
  }
}

async function readHead(source: AsyncIterator<Uint8Array>): Promise<{ head: Buffer; complete: boolean }> {
  const chunks: Uint8Array[] = []
  for (let size = 0; size <= HEAD_BYTES; size += chunks.at(-1)!.length) {
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

/** Options of `readCsv`. */
export type ReadOptions = {
  /** Position of the start of `source`: a checkpoint of an earlier read. Default: `format.start`. */
  from?: Checkpoint
  limits?: CsvLimits
  /** A batch ends after this many rows, or earlier after `batchLength` characters of text. */
  batchRows?: number
  batchLength?: number
}

/** The batches of a file. */
export type CsvReading = AsyncIterable<Batch> & {
  /**
   * Call it after the last batch of a whole file. Returns another encoding if the file was read as UTF-8, but invalid
   * bytes came too late for `openCsv` to see. Then open and read the file again with this encoding.
   * @throws {CsvError} encoding: the encoding is not supported
   */
  otherEncoding(): Encoding | null
}

/**
 * Reads the rows of a file in batches; can be iterated once. Batch boundaries do not depend on the chunks of the
 * source, so a read from a batch's checkpoint returns exactly the batches after it. A row that cannot be read has an
 * error; the rows after it are not affected. Yields to the event loop after every 5 ms of work, in turn with all other
 * reads of the process. Memory use depends on the limits, not on the file.
 * @throws {CsvError} rows: more rows than allowed; also errors of the source
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

  /** Fills the batch. Returns whether it is full; if not, the parser needs more text. */
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

  const yieldSlice = createSlices()
  for await (const piece of piecesOf(source)) {
    const text = decode(piece)
    doubt?.see(piece, text)
    parser.push(text)
    while (fill()) {
      yield takeBatch()
      await yieldSlice()
    }
    await yieldSlice()
  }
  parser.push(end())
  parser.end()
  while (fill()) yield takeBatch()
  if (rows.length > 0) yield takeBatch()
}

const MIN_PIECE_BYTES = 16 * 1024
const MAX_PIECE_BYTES = 32 * 1024

/** Rechunks the bytes: large enough to limit overhead, small enough not to block the event loop. */
async function* piecesOf(source: ByteSource): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = []
  let size = 0
  for await (const chunk of source) {
    waiting.push(chunk)
    size += chunk.length
    if (size < MIN_PIECE_BYTES) continue
    const bytes = waiting.length === 1 ? asBuffer(chunk) : Buffer.concat(waiting)
    for (let at = 0; at < size; at += MAX_PIECE_BYTES) yield bytes.subarray(at, at + MAX_PIECE_BYTES)
    waiting = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(waiting)
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
