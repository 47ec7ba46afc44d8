import { AppError } from '@rollcall/contract'
import type { FieldDefinition } from '@rollcall/protos/gen/content-v1.ts'
import { castValue, type Value } from './values.ts'

/** A field of a collection. */
export type Field = {
  slug: string
  name: string
  type: FieldDefinition['type']
  required: boolean
  default: Value | null
  options: string[]
  unique: boolean
}

const SLUG = /^[a-z][a-z0-9_]{0,39}$/
const UNIQUE_TYPES: ReadonlySet<string> = new Set(['string', 'number', 'date', 'email', 'url'])

/** Returns the fields of a request as they are stored. @throws {AppError} request.invalid_field, missing_field, extra_field */
export function readFields(given: readonly FieldDefinition[]): Field[] {
  const slugs = new Set<string>()
  return given.map((field, index) => {
    const at = `fields.${index}`
    if (!SLUG.test(field.slug)) {
      const reason = 'must be at most 40 lower-case letters, digits and underscores, from a letter'
      throw new AppError('request.invalid_field', { path: `${at}.slug`, reason })
    }
    if (slugs.has(field.slug)) throw invalid(`${at}.slug`, 'is the slug of another field')
    slugs.add(field.slug)
    return readField(field, at)
  })
}

function readField(
  { slug, name, type, required = false, unique = false, ...given }: FieldDefinition,
  at: string,
): Field {
  const options = [...new Set(given.options ?? [])]
  if (type === 'enum' && options.length === 0) throw new AppError('request.missing_field', { path: `${at}.options` })
  if (type !== 'enum' && options.length > 0) throw new AppError('request.extra_field', { path: `${at}.options` })
  if (unique && !UNIQUE_TYPES.has(type)) throw invalid(`${at}.unique`, `a ${type} cannot be unique`)
  const field: Field = { slug, name, type, required, default: null, options, unique }
  if (given.default === undefined || given.default === null) return field
  if (unique) throw invalid(`${at}.default`, 'a unique field has no default')
  return { ...field, default: castValue(field, given.default, `${at}.default`) }
}

/**
 * Checks that new fields fit entries that exist, which have the old ones. Returns those whose default entries without a
 * value get.
 * @throws {AppError} collection.has_entries
 */
export function checkChange(old: readonly Field[], fields: readonly Field[]): Field[] {
  const refuse = (path: string, reason: string) => new AppError('collection.has_entries', { path, reason })
  for (const { slug } of old)
    if (!fields.some(field => field.slug === slug)) throw refuse('fields', `${slug} cannot be removed`)
  return fields.filter((field, index) => {
    const before = old.find(({ slug }) => slug === field.slug)
    if (before && before.type !== field.type) throw refuse(`fields.${index}.type`, 'cannot be changed')
    if (before && field.unique && !before.unique) throw refuse(`fields.${index}.unique`, 'cannot be switched on')
    const becomesRequired = field.required && !before?.required
    if (becomesRequired && field.default === null)
      throw refuse(`fields.${index}.default`, 'a field that becomes required needs a default')
    return becomesRequired
  })
}

function invalid(path: string, reason: string): AppError {
  return new AppError('request.invalid_field', { path, reason })
}
