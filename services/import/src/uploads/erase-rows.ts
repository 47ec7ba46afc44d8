import type { CsvFormat } from '@rollcall/csv'
import type { Person } from '@rollcall/service'
import type { Scope } from '@rollcall/store'
import { mongo, type Types } from 'mongoose'
import type { Chunk } from './upload.model.ts'

/** A chunk as text of which each character has the same number of bytes, so that it is changed in place. */
type Piece = { id?: Types.ObjectId; text: string }

/**
 * Erases the lines of an uploaded file that name a person, in place: each character but quotes, delimiters and line breaks
 * becomes a `-`. Offsets and rows stay as they are, so a running import continues; such a row fails for its email. Three
 * chunks at a time make lines across their borders whole. Returns the number of lines.
 */
export async function eraseRows(
  chunks: Scope<Chunk>,
  upload: string,
  { encoding, delimiter }: CsvFormat,
  person: Person,
): Promise<number> {
  const { read, write } = encoding === 'utf-16le' || encoding === 'utf-16be' ? wide(encoding) : narrow(encoding)
  const kept = new Set(['"', delimiter, '\r', '\n'])
  const load = async (number: number): Promise<Piece> => {
    const chunk = await chunks.findOne({ upload, number })
    return chunk ? { id: chunk._id, text: read.units(Buffer.from(chunk.data.buffer)) } : { text: '' }
  }
  let erased = 0
  let [before, middle, after]: [Piece, Piece, Piece] = [{ text: '' }, await load(0), await load(1)]
  for (let number = 2; middle.id; number++) {
    const pieces = [before, middle, after]
    const text = pieces.map(piece => piece.text).join('')
    const from = before.text.length
    const lines = linesWith(text, from, from + middle.text.length, needlesOf(person))
    const named = lines.filter(([start, end]) => person.isNamedIn(read.text(text.slice(start, end))))
    erased += named.length
    for (const [start, end] of named) blank(pieces, start, end, kept)
    for (const { id, text: changed } of named.length > 0 ? pieces : [])
      if (id) await chunks.updateOne({ _id: id }, { $set: { data: new mongo.Binary(write(changed)) } })
    ;[before, middle, after] = [middle, after, await load(number)]
  }
  return erased
}

/** What lines with an address contain in every encoding: its ASCII domain. */
function needlesOf({ emailKeys }: Person): string[] {
  return [...new Set(emailKeys.map(key => key.slice(key.lastIndexOf('@'))))]
}

/** Returns the lines that contain one of the needles between two positions, as their start and end. */
function linesWith(text: string, from: number, to: number, needles: readonly string[]): [start: number, end: number][] {
  const lower = text.toLowerCase()
  const lines = new Map<number, number>()
  for (const needle of needles) {
    for (let at = lower.indexOf(needle, from); at !== -1 && at < to; at = lower.indexOf(needle, at + 1)) {
      const start = Math.max(text.lastIndexOf('\n', at), text.lastIndexOf('\r', at)) + 1
      const ends = [text.indexOf('\n', at), text.indexOf('\r', at)].filter(end => end !== -1)
      lines.set(start, Math.min(text.length, ...ends))
    }
  }
  return [...lines]
}

/** Blanks the characters of joined pieces from one position to another. */
function blank(pieces: readonly Piece[], start: number, end: number, kept: ReadonlySet<string>): void {
  let offset = 0
  for (const piece of pieces) {
    const { text } = piece
    const [first, last] = [Math.max(0, start - offset), Math.max(0, Math.min(text.length, end - offset))]
    offset += text.length
    if (first >= last) continue
    const line = text
      .slice(first, last)
      .split('')
      .map(each => (kept.has(each) ? each : '-'))
      .join('')
    piece.text = text.slice(0, first) + line + text.slice(last)
  }
}

/** Encodings whose quotes, delimiters and line breaks are single bytes. */
function narrow(encoding: string) {
  const decoder = new TextDecoder(encoding)
  return {
    read: {
      units: (bytes: Buffer) => bytes.toString('latin1'),
      text: (units: string) => decoder.decode(Buffer.from(units, 'latin1')),
    },
    write: (units: string) => Buffer.from(units, 'latin1'),
  }
}

function wide(encoding: 'utf-16le' | 'utf-16be') {
  const swapped = (bytes: Buffer) => (encoding === 'utf-16le' ? bytes : Buffer.from(bytes).swap16())
  return {
    read: { units: (bytes: Buffer) => swapped(bytes).toString('utf16le'), text: (units: string) => units },
    write: (units: string) => swapped(Buffer.from(units, 'utf16le')),
  }
}
