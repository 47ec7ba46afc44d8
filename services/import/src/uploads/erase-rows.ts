import { domainToUnicode } from 'node:url'
import { type CsvFormat, type CsvLimits, readCsv } from '@rollcall/csv'
import type { Person } from '@rollcall/service'
import type { Scope } from '@rollcall/store'
import { type ClientSession, mongo, type Types } from 'mongoose'
import { readStored } from './spool.ts'
import { CHUNK_BYTES, type Chunk } from './upload.model.ts'

/** From one byte of a file to another. */
type Range = [start: number, end: number]

/** An uploaded file, and how to read it. */
export type StoredFile = { upload: Types.ObjectId; format: CsvFormat }

export type EraseOptions = {
  limits: CsvLimits
  /** Runs a change of the file in a transaction, with what has to change with it. */
  commit(change: (tx: ClientSession) => Promise<void>): Promise<void>
}

/**
 * Erases the rows of an uploaded file that name a person, in place: each character but quotes, delimiters and line breaks
 * becomes a `-`. Offsets and rows stay as they are, so an import can resume at its checkpoint; such a row fails for its
 * email. Each row is a transaction. Returns the number of rows.
 */
export async function eraseRows(
  chunks: Scope<Chunk>,
  { upload, format }: StoredFile,
  person: Person,
  { limits, commit }: EraseOptions,
): Promise<number> {
  if (person.emailKeys.length === 0) return 0
  const coding = codingOf(format)
  const named = await namedIn(chunks, upload, coding, person)
  if (named.length === 0) return 0
  let erased = 0
  let next = 0
  for await (const [start, end] of rowsOf(chunks, upload, format, limits)) {
    const first = next
    while (next < named.length && named[next]! < end) next++
    if (next === first) continue
    await commit(tx => blank(chunks, upload, coding, [start, end], tx))
    erased++
    if (next === named.length) break
  }
  return erased
}

/** Yields the header row and the data rows. A row includes the blank lines before it. */
async function* rowsOf(
  chunks: Scope<Chunk>,
  upload: Types.ObjectId,
  format: CsvFormat,
  limits: CsvLimits,
): AsyncGenerator<Range> {
  let { offset } = format.start
  yield [0, offset]
  const source = readStored(chunks, upload, offset)
  for await (const { checkpoint } of readCsv(source, format, { limits, batchRows: 1 })) {
    yield [offset, checkpoint.offset]
    offset = checkpoint.offset
  }
}

/**
 * Returns the offsets of the addresses of a person in a file. Three chunks at a time make lines across their borders whole:
 * an address has no line break.
 */
async function namedIn(
  chunks: Scope<Chunk>,
  upload: Types.ObjectId,
  { width, unitsOf, textOf }: Coding,
  person: Person,
): Promise<number[]> {
  const needle = needleOf(person)
  const load = async (number: number) => {
    const chunk = await chunks.findOne({ upload, number })
    return chunk ? unitsOf(Buffer.from(chunk.data.buffer)) : ''
  }
  const named: number[] = []
  let [before, middle, after] = ['', await load(0), await load(1)]
  for (let number = 0; middle !== ''; number++) {
    const text = before + middle + after
    const from = before.length
    for (const { at, line } of linesWith(text, from, from + middle.length, needle))
      if (person.isNamedIn(textOf(line))) named.push(number * CHUNK_BYTES + (at - from) * width)
    ;[before, middle, after] = [middle, after, await load(number + 2)]
  }
  return named
}

/** What lines with an address contain in every encoding: its domain, or only the `@` if that is also written in Unicode. */
function needleOf({ emailKeys }: Person): RegExp {
  const needles = emailKeys.map(key => {
    const domain = key.slice(key.lastIndexOf('@') + 1)
    return domainToUnicode(domain) === domain ? `@${domain.replace(/\W/g, '\\$&')}` : '@'
  })
  return new RegExp(needles.join('|'), 'gi')
}

/** Returns the lines that contain the needle between two positions, and where. */
function linesWith(text: string, from: number, to: number, needle: RegExp): { at: number; line: string }[] {
  const lines: { at: number; line: string }[] = []
  needle.lastIndex = from
  for (let found = needle.exec(text); found && found.index < to; found = needle.exec(text)) {
    const [start, end] = lineAt(text, found.index)
    lines.push({ at: found.index, line: text.slice(start, end) })
    needle.lastIndex = end
  }
  return lines
}

/** Returns the line around a position. Looks no further: a file has a million lines. */
function lineAt(text: string, at: number): [start: number, end: number] {
  let [start, end] = [at, at]
  while (start > 0 && !isBreak(text[start - 1])) start--
  while (end < text.length && !isBreak(text[end])) end++
  return [start, end]
}

function isBreak(character: string | undefined): boolean {
  return character === '\n' || character === '\r'
}

/** Blanks the characters of a file from one byte to another. */
async function blank(
  chunks: Scope<Chunk>,
  upload: Types.ObjectId,
  { width, kept, unitsOf, bytesOf }: Coding,
  [start, end]: Range,
  tx: ClientSession,
): Promise<void> {
  for (let number = Math.floor(start / CHUNK_BYTES); number * CHUNK_BYTES < end; number++) {
    const chunk = await chunks.findOne({ upload, number }, { tx })
    if (!chunk) return
    const bytes = Buffer.from(chunk.data.buffer)
    const units = unitsOf(bytes)
    const offset = number * CHUNK_BYTES
    const [from, to] = [Math.max(0, start - offset) / width, (end - offset) / width]
    const row = units
      .slice(from, to)
      .split('')
      .map(each => (kept.has(each) ? each : '-'))
      .join('')
    const blanked = bytesOf(units.slice(0, from) + row + units.slice(to))
    const rest = bytes.subarray(blanked.length) // a damaged file can end within a character
    const data = new mongo.Binary(Buffer.concat([blanked, rest]))
    await chunks.updateOne({ _id: chunk._id }, { $set: { data } }, { tx })
  }
}

/** How bytes become text of which each character has the same number of bytes, so that it is changed in place. */
type Coding = {
  /** Bytes of a character. */
  width: number
  kept: ReadonlySet<string>
  unitsOf(bytes: Buffer): string
  bytesOf(units: string): Buffer
  /** Returns the text that the characters stand for. */
  textOf(units: string): string
}

function codingOf({ encoding, delimiter }: CsvFormat): Coding {
  const kept = new Set(['"', delimiter, '\r', '\n'])
  return { kept, ...(encoding === 'utf-16le' || encoding === 'utf-16be' ? wide(encoding) : narrow(encoding)) }
}

/** Encodings whose quotes, delimiters and line breaks are single bytes. */
function narrow(encoding: string) {
  const decoder = new TextDecoder(encoding)
  return {
    width: 1,
    unitsOf: (bytes: Buffer) => bytes.toString('latin1'),
    bytesOf: (units: string) => Buffer.from(units, 'latin1'),
    textOf: (units: string) => decoder.decode(Buffer.from(units, 'latin1')),
  }
}

function wide(encoding: 'utf-16le' | 'utf-16be') {
  const swapped = (bytes: Buffer) => (encoding === 'utf-16le' ? bytes : Buffer.from(bytes).swap16())
  const whole = (bytes: Buffer) => bytes.subarray(0, bytes.length - (bytes.length % 2))
  return {
    width: 2,
    unitsOf: (bytes: Buffer) => swapped(whole(bytes)).toString('utf16le'),
    bytesOf: (units: string) => swapped(Buffer.from(units, 'utf16le')),
    textOf: (units: string) => units,
  }
}
