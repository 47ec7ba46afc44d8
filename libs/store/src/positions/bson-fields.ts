import { mongo, Types } from 'mongoose'

const { BSON } = mongo
const { BSONType } = BSON

type Doc = Record<string, unknown>
/** A document and its bytes as Latin-1, of which text in ASCII is cut: one conversion for all of its strings. */
type Source = { bytes: Buffer; latin: string }

/**
 * Reads the named top-level fields of documents in BSON (bsonspec.org), or whole documents where no names are given. Of
 * documents by the thousand this takes a fraction of what the library takes, which handles kinds unknown here.
 */
export function documentReader<T>(names?: readonly string[]): (document: Uint8Array) => T {
  const wanted = names && new Set(names)
  return document => {
    const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength)
    return (readFields({ bytes, latin: bytes.toString('latin1') }, 0, wanted) ?? BSON.deserialize(bytes)) as T
  }
}

/**
 * The fields of the document that begins at `start`; undefined where a value is of a kind that only the library reads.
 */
function readFields(source: Source, start: number, wanted?: ReadonlySet<string>): Doc | undefined {
  const { bytes } = source
  const fields: Doc = {}
  const end = start + int32At(bytes, start) - 1
  for (let at = start + 4; at < end; ) {
    const type = bytes[at]!
    const nameStart = at + 1
    let nameEnd = nameStart
    while (bytes[nameEnd] !== 0) nameEnd++
    const offset = nameEnd + 1
    const length = lengthOf(bytes, type, offset)
    if (length === undefined) return undefined
    const name = nameAt(source, nameStart, nameEnd)
    at = offset + length
    if (wanted && !wanted.has(name)) continue
    const value = readValue(source, type, offset, length)
    if (value === undefined) return undefined
    if (name === '__proto__') Object.defineProperty(fields, name, { value, ...plainProperty })
    else fields[name] = value
  }
  return fields
}

const plainProperty = { configurable: true, enumerable: true, writable: true }

/** Bytes of a value; undefined for kinds that have no place in our records. */
export function lengthOf(bytes: Buffer, type: number, offset: number): number | undefined {
  switch (type) {
    case BSONType.null:
      return 0
    case BSONType.bool:
      return 1
    case BSONType.int:
      return 4
    case BSONType.double:
    case BSONType.date:
    case BSONType.long:
      return 8
    case BSONType.objectId:
      return 12
    case BSONType.string:
      return int32At(bytes, offset) + 4
    case BSONType.object:
    case BSONType.array:
      return int32At(bytes, offset)
    case BSONType.binData:
      return int32At(bytes, offset) + 5
    default:
      return undefined
  }
}

/** Returns where the value of a top-level field begins; -1 if the document has no such field. */
export function findField(bytes: Buffer, document: number, name: string): number {
  const end = document + int32At(bytes, document) - 1
  for (let at = document + 4; at < end; ) {
    const nameEnd = bytes.indexOf(0, at + 1)
    const length = lengthOf(bytes, bytes[at]!, nameEnd + 1)
    if (length === undefined) return -1
    if (bytes.toString('latin1', at + 1, nameEnd) === name) return nameEnd + 1
    at = nameEnd + 1 + length
  }
  return -1
}

function readValue(source: Source, type: number, offset: number, length: number): unknown {
  const { bytes } = source
  switch (type) {
    case BSONType.string:
      return textAt(source, offset + 4, offset + length - 1)
    case BSONType.bool:
      return bytes[offset] === 1
    case BSONType.null:
      return null
    case BSONType.int:
      return int32At(bytes, offset)
    case BSONType.double:
      return bytes.readDoubleLE(offset)
    case BSONType.date:
      return new Date(timeAt(bytes, offset))
    case BSONType.objectId:
      return new Types.ObjectId(bytes.subarray(offset, offset + length))
    case BSONType.object:
      return readFields(source, offset)
    case BSONType.array: {
      const items = readFields(source, offset)
      return items && Object.values(items)
    }
    default:
      return undefined
  }
}

/** Names met before: to find one again is cheaper than to make it. */
const knownNames: string[] = []
const NAMES = 1024

function nameAt(source: Source, start: number, end: number): string {
  const { bytes, latin } = source
  const slot = ((bytes[start]! << 5) ^ (bytes[end - 1]! << 2) ^ (end - start)) % NAMES
  const known = knownNames[slot]
  if (known?.length === end - start && latin.startsWith(known, start)) return known
  const name = textAt(source, start, end)
  knownNames[slot] = name
  return name
}

function textAt({ bytes, latin }: Source, start: number, end: number): string {
  for (let at = start; at < end; at++) if (bytes[at]! > 127) return bytes.toString('utf8', start, end)
  return latin.slice(start, end)
}

/** Returns the signed integer of 32 bits at `at`. */
export function int32At(bytes: Buffer, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

/** Returns the time of a date, in milliseconds since the epoch. */
export function timeAt(bytes: Buffer, at: number): number {
  return int32At(bytes, at + 4) * 2 ** 32 + (int32At(bytes, at) >>> 0)
}

/** Returns the number of a value; undefined if it is not one. */
export function numberAt(bytes: Buffer, type: number, at: number): number | undefined {
  switch (type) {
    case BSONType.int:
      return int32At(bytes, at)
    case BSONType.double:
      return bytes.readDoubleLE(at)
    case BSONType.long:
      return Number(bytes.readBigInt64LE(at))
    default:
      return undefined
  }
}
