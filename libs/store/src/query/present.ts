import { documentReader } from '../positions/bson-fields.ts'
import { type FieldTable, fieldOf } from './fields.ts'
import { jsonWriter } from './json-writer.ts'
import type { RecordWriter } from './record-chunks.ts'

type Doc = Record<string, unknown>

/** Makes the public record of a stored one; `writer` writes it as JSON straight from BSON. */
export type Presenter<Shown extends object = Doc> = ((record: object) => Shown) & { readonly writer: RecordWriter }

const presenters = new WeakMap<FieldTable, Presenter<object>>()

/**
 * Returns the function that makes the public record of a stored one by its table: `_id` and `id`, the fields of the table in
 * its order, then `createdAt` and `updatedAt`. What the table does not name is never shown. `Shown` is what JSON makes of it.
 */
export function presenter<Shown extends object = Doc>(fields: FieldTable): Presenter<Shown> {
  const known = presenters.get(fields) ?? createPresenter(fields)
  presenters.set(fields, known)
  return known as Presenter<Shown>
}

function createPresenter(fields: FieldTable): Presenter<object> {
  const names = Object.keys(fields).filter(name => !name.includes('.') && !ends.has(name) && fieldOf(fields, name))
  const sources = [...names.map(name => [name, pathOf(fields, name)] as const), ...times]
  const readers = sources.map(([name, path]) => [name, readerOf(path)] as const)
  const present = (record: object) => {
    const stored = record as Doc
    const id = String(stored._id)
    const shown: Doc = { _id: id, id }
    for (const [name, read] of readers) {
      const value = read(stored)
      if (value !== undefined) shown[name] = value
    }
    return shown
  }
  const decode = documentReader<Doc>()
  const writer = jsonWriter(sources, document => present(decode(document)))
  return Object.assign(present, { writer })
}

const times = [
  ['createdAt', 'createdAt'],
  ['updatedAt', 'updatedAt'],
] as const
const ends = new Set(['_id', 'id', 'createdAt', 'updatedAt'])

/** Returns what reads a path of a document. A value inside of null is null. */
function readerOf(path: string): (stored: Doc) => unknown {
  const [outer = '', inner] = path.split('.')
  if (inner === undefined) return stored => stored[outer]
  return stored => {
    const parent = stored[outer] as Doc | null | undefined
    return parent === null ? null : parent?.[inner]
  }
}

function pathOf(fields: FieldTable, name: string): string {
  const spec = fields[name]!
  return typeof spec === 'string' ? name : (spec.path ?? name)
}
