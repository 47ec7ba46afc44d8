import { AppError, parseDate } from '@rollcall/contract'

/** The types an attribute can have. */
export const attributeTypes = ['string', 'number', 'boolean', 'date', 'enum'] as const
export type AttributeType = (typeof attributeTypes)[number]

/** What has to be known of an attribute to judge a value of it. */
export type Definition = {
  slug: string
  type: AttributeType
  /** Values allowed, of an enum; empty for every other type. */
  options: readonly string[]
  /** Whether a new contact must have it, and none may lose it. */
  required: boolean
}

/** An organization's attributes by slug, in the order they were defined. A Map, since a slug may be `constructor`. */
export type Definitions = ReadonlyMap<string, Definition>

/** A value as it is stored; dates as Date. */
export type AttributeValue = string | number | boolean | Date

/** A contact's values by slug. */
export type AttributeValues = Record<string, AttributeValue>

const maxTextLength = 10_000

/**
 * Casts values given by slug, as they come in JSON, to what is stored; null asks for removal.
 * Whole or not at all: unknown slugs are refused first, then the first value that does not fit.
 * @throws {AppError} extra_field, invalid_field, or missing_field where a required attribute is to be removed
 */
export function castAttributes(
  definitions: Definitions,
  given: Record<string, unknown>,
): [slug: string, value: AttributeValue | null][] {
  const entries = Object.entries(given).map(([slug, value]) => {
    const definition = definitions.get(slug)
    if (!definition) throw new AppError('request.extra_field', { path: pathOf(slug) })
    return [definition, value] as const
  })
  return entries.map(([definition, value]) => [definition.slug, castAttribute(definition, value)])
}

/**
 * Refuses values that lack a required attribute.
 * @throws {AppError} missing_field, naming the first in the order of definition
 */
export function requireAttributes(definitions: Definitions, values: AttributeValues): void {
  for (const { slug, required } of definitions.values()) {
    if (required && !Object.hasOwn(values, slug)) throw new AppError('request.missing_field', { path: pathOf(slug) })
  }
}

/** The path under which errors, filters and history name an attribute. */
export function pathOf(slug: string): string {
  return `attributes.${slug}`
}

function castAttribute(definition: Definition, value: unknown): AttributeValue | null {
  const path = pathOf(definition.slug)
  if (value === null) {
    if (definition.required) throw new AppError('request.missing_field', { path })
    return null
  }
  const { accept, reason } = casts[definition.type]
  const cast = accept(value, definition)
  if (cast === undefined) throw new AppError('request.invalid_field', { path, reason: reason(definition) })
  return cast
}

type Cast = {
  accept: (value: unknown, definition: Definition) => AttributeValue | undefined
  reason: (definition: Definition) => string
}

const casts: Record<AttributeType, Cast> = {
  string: {
    accept: (value, { required }) => {
      const text = typeof value === 'string' ? value.trim() : undefined
      return text === undefined || text.length > maxTextLength || (required && text === '') ? undefined : text
    },
    reason: ({ required }) =>
      `must be a string of ${required ? 'at least one and ' : ''}at most ${maxTextLength} characters`,
  },
  number: {
    // -0 has no JSON of its own: kept as 0, or a value would differ from its own export.
    accept: value => (typeof value === 'number' && Number.isFinite(value) ? value + 0 : undefined),
    reason: () => 'must be a number',
  },
  boolean: {
    accept: value => (typeof value === 'boolean' ? value : undefined),
    reason: () => 'must be true or false',
  },
  date: {
    accept: value => (typeof value === 'string' ? parseDate(value) : undefined),
    reason: () => 'must be an ISO 8601 date',
  },
  enum: {
    accept: (value, { options }) => (typeof value === 'string' && options.includes(value) ? value : undefined),
    reason: ({ options }) => `must be one of ${options.join(', ')}`,
  },
}
