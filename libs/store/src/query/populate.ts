import { allows, type Permissions } from '@rollcall/contract'
import type { Scope } from '../tenancy/scope.ts'
import { invalidParameter } from './fields.ts'

type Doc = Record<string, unknown>

/** A reference that clients may expand. `load` returns the referenced records of the tenant, by id as text. */
export type Reference = {
  /** Field of the public record with the id or ids. Default: the reference's name. */
  field?: string
  load(ids: string[]): Promise<Map<string, object>>
}

/** The references of a record, by their names in `populate`. */
export type PopulateMap = Readonly<Record<string, Reference>>

/** Returns a reference to records of a collection of this service, presented by `present`. */
export function reference<T extends object>(
  scope: Scope<T>,
  present: (record: T) => object,
  field?: string,
): Reference {
  return {
    ...(field !== undefined && { field }),
    async load(ids) {
      const records = (await scope.find({ _id: { $in: ids } })) as (T & { _id: unknown })[]
      return new Map(records.map(record => [String(record._id), present(record)]))
    },
  }
}

/** Returns a reference to accounts: whole records for callers with `users.read`, `{_id, id, name}` for all others. */
export function personReference({ permissions }: { permissions: Permissions }, reference: Reference): Reference {
  if (allows(permissions, 'users', 'read')) return reference
  const load = async (ids: string[]) => {
    const people = await reference.load(ids)
    return new Map([...people].map(([id, { name }]: [string, { name?: unknown }]) => [id, { _id: id, id, name }]))
  }
  return { ...reference, load }
}

/** Replaces the ids of the named references by records. A missing one becomes null, or is left out of an array. */
export type Expand = (records: Doc[]) => Promise<Doc[]>

/** Parses the `populate` parameter; undefined if absent; throws `request.invalid_field` for a name that is not in the map. */
export function parsePopulate(text: string | undefined, references: PopulateMap = {}): Expand | undefined {
  const names = [...new Set((text ?? '').split(' ').filter(Boolean))]
  if (names.length === 0) return undefined
  const wanted = names.map(name => {
    if (!Object.hasOwn(references, name)) throw invalidParameter('populate', `${name.slice(0, 100)} cannot be expanded`)
    return { field: name, ...references[name]! }
  })
  return async records => {
    const loaded = await Promise.all(wanted.map(({ field, load }) => loadAll(records, field, load)))
    return records.map(record => {
      const expanded = { ...record }
      wanted.forEach(({ field }, index) => {
        if (Object.hasOwn(record, field)) expanded[field] = replaced(record[field], loaded[index]!)
      })
      return expanded
    })
  }
}

async function loadAll(records: Doc[], field: string, load: Reference['load']): Promise<Map<string, object>> {
  const ids = new Set(records.flatMap(record => record[field] ?? []).map(String))
  return ids.size > 0 ? load([...ids]) : new Map()
}

function replaced(value: unknown, found: Map<string, object>): unknown {
  if (Array.isArray(value)) return value.map(id => found.get(String(id))).filter(record => record !== undefined)
  return found.get(String(value)) ?? null
}
