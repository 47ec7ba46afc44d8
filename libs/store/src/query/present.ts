import { type FieldTable, fieldOf } from './fields.ts'

type Doc = Record<string, unknown>

/**
 * Makes the public record of a stored one by its table: `_id` and `id`, the fields of the table in its order, then
 * `createdAt` and `updatedAt`. What the table does not name is never shown. `Shown` is what JSON makes of it.
 */
export function presenter<Shown extends object = Doc>(fields: FieldTable): (record: object) => Shown {
  const names = Object.keys(fields).filter(name => !name.includes('.') && !ends.has(name) && fieldOf(fields, name))
  const sources = names.map(name => [name, pathOf(fields, name)] as const)
  return record => {
    const stored = record as Doc
    const id = String(stored._id)
    const shown: Doc = { _id: id, id }
    for (const [name, path] of sources) if (stored[path] !== undefined) shown[name] = stored[path]
    if (stored.createdAt !== undefined) shown.createdAt = stored.createdAt
    if (stored.updatedAt !== undefined) shown.updatedAt = stored.updatedAt
    return shown as Shown
  }
}

const ends = new Set(['_id', 'id', 'createdAt', 'updatedAt'])

function pathOf(fields: FieldTable, name: string): string {
  const spec = fields[name]!
  return typeof spec === 'string' ? name : (spec.path ?? name)
}
