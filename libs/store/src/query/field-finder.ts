import { mongo } from 'mongoose'
import { int32At, lengthOf } from '../positions/bson-fields.ts'

const { BSONType } = mongo.BSON

/** Finds the values of fields in documents in BSON. Its arrays have a place for each path, and those of the last document. */
export type FieldFinder = {
  /** Looks through the document at `start`. False if it has a value of a kind that only the library reads. */
  find(bytes: Buffer, start: number): boolean
  /** BSON type of each value; 0 if the document has no such field. */
  readonly types: Uint8Array
  /** Where each value begins. */
  readonly starts: Int32Array
  /** Where each value ends. */
  readonly ends: Int32Array
}

/** A field by name: its place among the paths (-1 if not wanted), and the wanted fields of the object that it holds. */
type Entry = { name: Uint8Array; place: number; inner: Level | undefined }
/** Fields at one level of documents: those wanted by name, and those that the last document had, in its order. */
type Level = { wanted: Map<string, Entry>; last: Entry[] }

/** Creates a finder of the fields at some paths: a name, or two that a dot separates. */
export function fieldFinder(paths: readonly string[]): FieldFinder {
  const types = new Uint8Array(paths.length)
  const starts = new Int32Array(paths.length)
  const ends = new Int32Array(paths.length)
  const top = levelOf(paths)

  const findIn = (level: Level, bytes: Buffer, start: number): boolean => {
    const end = start + int32At(bytes, start) - 1
    for (let at = start + 4, index = 0; at < end; index++) {
      const type = bytes[at]!
      const entry = entryAt(level, index, bytes, at + 1)
      const from = at + 1 + entry.name.length
      const length = lengthOf(bytes, type, from)
      if (length === undefined) return false
      at = from + length
      if (entry.inner !== undefined && type === BSONType.object && !findIn(entry.inner, bytes, from)) return false
      if (entry.place < 0) continue
      types[entry.place] = type
      starts[entry.place] = from
      ends[entry.place] = at
    }
    return true
  }

  return {
    find(bytes, start) {
      types.fill(0)
      return findIn(top, bytes, start)
    },
    types,
    starts,
    ends,
  }
}

function levelOf(paths: readonly string[]): Level {
  const wanted = new Map<string, Entry>()
  const entryOf = (name: string) => {
    const entry = wanted.get(name) ?? { name: Buffer.from(`${name}\0`), place: -1, inner: undefined }
    wanted.set(name, entry)
    return entry
  }
  paths.forEach((path, place) => {
    const [name = '', inner] = path.split('.')
    const entry = entryOf(name)
    if (inner === undefined) {
      entry.place = place
      return
    }
    entry.inner ??= { wanted: new Map(), last: [] }
    entry.inner.wanted.set(inner, { name: Buffer.from(`${inner}\0`), place, inner: undefined })
  })
  return { wanted, last: [] }
}

/** Returns the entry of the field whose name is at `at`. Most documents have the fields of the one before, in its order. */
function entryAt(level: Level, index: number, bytes: Buffer, at: number): Entry {
  const guess = level.last[index]
  if (guess !== undefined && isAt(guess.name, bytes, at)) return guess
  const name = bytes.subarray(at, bytes.indexOf(0, at) + 1)
  const entry = level.wanted.get(name.toString('utf8', 0, name.length - 1)) ?? {
    name: Uint8Array.from(name),
    place: -1,
    inner: undefined,
  }
  level.last[index] = entry
  return entry
}

function isAt(name: Uint8Array, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < name.length; index++) if (name[index] !== bytes[at + index]) return false
  return true
}
