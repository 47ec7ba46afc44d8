import { mongo } from 'mongoose'

const { BSON } = mongo
const { BSONType, onDemand } = BSON

type Doc = Record<string, unknown>
type Elements = [type: number, nameOffset: number, nameLength: number, offset: number, length: number][]
/** Names that are wanted, and what they look like at first sight: most others need not be read to be passed over. */
type Wanted = { names: ReadonlySet<string>; looks: ReadonlySet<number> }

/**
 * Reads the named top-level fields of documents in BSON, or whole documents where no names are given. To read a few of
 * many fields takes a fraction of what it takes to read all of them.
 */
export function documentReader<T>(names?: readonly string[]): (document: Uint8Array) => T {
  if (!names) return document => BSON.deserialize(document) as T
  const wanted = { names: new Set(names), looks: new Set(names.map(name => lookOf(Buffer.from(name)))) }
  return document => {
    const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength)
    return (readFields(bytes, 0, wanted) ?? BSON.deserialize(bytes)) as T
  }
}

/** Undefined where a wanted value is of a kind that only the library reads. */
function readFields(bytes: Buffer, start: number, wanted?: Wanted): Doc | undefined {
  const fields: Doc = {}
  for (const element of elementsOf(bytes, start)) {
    const nameOffset = element[1]
    const nameEnd = nameOffset + element[2]
    if (wanted && !wanted.looks.has(lookOf(bytes, nameOffset, nameEnd))) continue
    const name = bytes.toString('utf8', nameOffset, nameEnd)
    if (wanted && !wanted.names.has(name)) continue
    const value = readValue(bytes, element[0], element[3], element[4])
    if (value === undefined) return undefined
    fields[name] = value
  }
  return fields
}

/** Length and first letter of a name. */
function lookOf(bytes: Buffer, start = 0, end = bytes.length): number {
  return (end - start) * 256 + (bytes[start] ?? 0)
}

function readValue(bytes: Buffer, type: number, offset: number, length: number): unknown {
  switch (type) {
    case BSONType.string:
      return bytes.toString('utf8', offset + 4, offset + length - 1)
    case BSONType.bool:
      return bytes[offset] === 1
    case BSONType.null:
      return null
    case BSONType.int:
      return bytes.readInt32LE(offset)
    case BSONType.double:
      return bytes.readDoubleLE(offset)
    case BSONType.date:
      return new Date(bytes.readInt32LE(offset + 4) * 2 ** 32 + bytes.readUInt32LE(offset))
    case BSONType.object:
      return readFields(bytes, offset)
    case BSONType.array: {
      const items = readFields(bytes, offset)
      return items && Object.values(items)
    }
    default:
      return undefined
  }
}

function elementsOf(bytes: Buffer, start: number): Elements {
  return onDemand.parseToElements(bytes, start) as unknown as Elements
}
