import { domainToUnicode } from 'node:url'
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
  if (person.emailKeys.length === 0) return 0
  const needle = needleOf(person)
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
    const lines = linesWith(text, from, from + middle.text.length, needle)
    const named = lines.filter(([start, end]) => person.isNamedIn(read.text(text.slice(start, end))))
    erased += named.length
    for (const [start, end] of named) blank(pieces, start, end, kept)
    for (const { id, text: changed } of named.length > 0 ? pieces : [])
      if (id) await chunks.updateOne({ _id: id }, { $set: { data: new mongo.Binary(write(changed)) } })
    ;[before, middle, after] = [middle, after, await load(number)]
  }
  return erased
}

/** What lines with an address contain in every encoding: its domain, or only the `@` if that is also written in Unicode. */
function needleOf({ emailKeys }: Person): RegExp {
  const needles = emailKeys.map(key => {
    const domain = key.slice(key.lastIndexOf('@') + 1)
    return domainToUnicode(domain) === domain ? `@${domain.replace(/\W/g, '\\$&')}` : '@'
  })
  return new RegExp(needles.join('|'), 'gi')
}

type Line = [start: number, end: number]

/** Returns the lines that contain the needle between two positions. */
function linesWith(text: string, from: number, to: number, needle: RegExp): Line[] {
  const lines: Line[] = []
  needle.lastIndex = from
  for (let found = needle.exec(text); found && found.index < to; found = needle.exec(text)) {
    const line = lineAt(text, found.index)
    lines.push(line)
    needle.lastIndex = line[1]
  }
  return lines
}

/** Returns the line around a position. Looks no further: a file has a million lines. */
function lineAt(text: string, at: number): Line {
  let [start, end] = [at, at]
  while (start > 0 && !isBreak(text[start - 1])) start--
  while (end < text.length && !isBreak(text[end])) end++
  return [start, end]
}

function isBreak(character: string | undefined): boolean {
  return character === '\n' || character === '\r'
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
