import { type FieldTable, fieldOf, invalidParameter, isPlainObject, parseObject } from './fields.ts'

/** Reduces a public record to the requested fields. */
export type Project = (record: Record<string, unknown>) => Record<string, unknown>

type Doc = Record<string, unknown>
/** The named fields as a tree of path segments; `true` is a whole field. */
type Tree = Map<string, Tree | true>

/**
 * Parses the `projection` parameter; undefined if absent. `_id` and `id` are one: they stay unless left out by 0.
 * Throws `request.invalid_field` with path `projection` for fields that are not public, values other than 0, 1, true and false,
 * a mixture of both (except for the id), and a field given together with a part of it.
 */
export function parseProjection(text: string | undefined, fields: FieldTable): Project | undefined {
  const wanted = Object.entries(parseObject('projection', text)).map(
    ([name, value]) => [name, readFlag(name, value)] as const,
  )
  if (wanted.length === 0) return undefined
  const ids = wanted.filter(([name]) => isId(name)).map(([, keep]) => keep)
  const others = wanted.filter(([name]) => !isId(name))
  const keep = others[0]?.[1] ?? ids[0]!
  if (others.some(([, flag]) => flag !== keep)) throw invalidParameter('projection', 'mixes 0 and 1')
  if (new Set(ids).size > 1) throw invalidParameter('projection', '_id and id are one field')
  const tree = treeOf(
    others.map(([name]) => name),
    fields,
  )
  const keepId = ids[0] ?? true
  return record => ({ ...(keepId && idOf(record)), ...withoutId(keep ? pick(record, tree) : omit(record, tree)) })
}

function readFlag(name: string, value: unknown): boolean {
  if (value === 0 || value === false) return false
  if (value === 1 || value === true) return true
  throw invalidParameter('projection', `${name} must be 0 or 1`)
}

function isId(name: string): boolean {
  return name === '_id' || name === 'id'
}

function treeOf(names: readonly string[], fields: FieldTable): Tree {
  const tree: Tree = new Map()
  for (const name of names) {
    if (!fieldOf(fields, name)) throw invalidParameter('projection', `${name} is not a field of the record`)
    const segments = segmentsOf(name, fields)
    const last = segments.pop()!
    let node = tree
    for (const segment of segments) {
      const next = node.get(segment) ?? new Map()
      if (next === true) throw collision(name)
      node.set(segment, next)
      node = next
    }
    if (node.has(last)) throw collision(name)
    node.set(last, true)
  }
  return tree
}

/** The keys that lead to a field. A dot separates keys only after the name of an object: other keys may contain dots. */
function segmentsOf(name: string, fields: FieldTable): string[] {
  const segments: string[] = []
  let start = 0
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    if (fieldOf(fields, name.slice(0, dot))?.type !== 'object') continue
    segments.push(name.slice(start, dot))
    start = dot + 1
  }
  return [...segments, name.slice(start)]
}

function collision(name: string): Error {
  return invalidParameter('projection', `${name} is given twice`)
}

function idOf({ _id, id }: Doc): Doc {
  return { ...(_id !== undefined && { _id }), ...(id !== undefined && { id }) }
}

function withoutId({ _id, id, ...rest }: Doc): Doc {
  return rest
}

function pick(record: Doc, tree: Tree): Doc {
  const picked: [key: string, part: unknown][] = []
  for (const [key, branch] of tree) {
    if (!Object.hasOwn(record, key)) continue
    const part = branch === true ? record[key] : within(record[key], inner => pick(inner, branch))
    if (part !== undefined) picked.push([key, part])
  }
  return Object.fromEntries(picked) // an assignment would set the prototype for a key named __proto__
}

function omit(record: Doc, tree: Tree): Doc {
  const rest = { ...record }
  for (const [key, branch] of tree) {
    if (branch === true) delete rest[key]
    else if (Object.hasOwn(rest, key)) rest[key] = within(rest[key], inner => omit(inner, branch)) ?? rest[key]
  }
  return rest
}

/** Applies a cut to an object, or to each object of an array; undefined for anything else. */
function within(value: unknown, cut: (inner: Doc) => Doc): unknown {
  if (Array.isArray(value)) return value.filter(isPlainObject).map(cut)
  return isPlainObject(value) ? cut(value) : undefined
}
