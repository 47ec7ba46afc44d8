import { AppError, parseDate } from '@rollcall/contract'

/** The types an attribute can have. */
export const attributeTypes = ['string', 'number', 'boolean', 'date', 'enum'] as const
export type AttributeType = (typeof attributeTypes)[number]

/** The part of an attribute that its values are checked against. */
export type Definition = {
  slug: string
  type: AttributeType
  /** Allowed values of an enum; empty for other types. */
  options: readonly string[]
  /** Every new contact must have a value, and it cannot be removed. */
  required: boolean
}

/** An organization's attributes by slug, oldest first. A Map, because a slug may be `constructor`. */
export type Definitions = ReadonlyMap<string, Definition>

/** A value as it is stored; dates as Date. */
export type AttributeValue = string | number | boolean | Date

/** A contact's values by slug. */
export type AttributeValues = Record<string, AttributeValue>

const MAX_TEXT_LENGTH = 10_000
/** Limit of the text of all values of a contact. In bytes of UTF-8, since events and memory are limited in bytes. */
export const MAX_TEXT_BYTES = 64 * 1024

/**
 * Converts JSON values by slug to stored values; null removes a value. Throws for unknown slugs first, then for the
 * first invalid value.
 * @throws {AppError} request.extra_field, request.invalid_field, or request.missing_field if a required attribute is
 * removed
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
 * Checks that every required attribute has a value.
 * @throws {AppError} request.missing_field for the oldest attribute without one
 */
export function requireAttributes(definitions: Definitions, values: AttributeValues): void {
  for (const { slug, required } of definitions.values()) {
    if (required && !Object.hasOwn(values, slug)) throw new AppError('request.missing_field', { path: pathOf(slug) })
  }
}

/** Returns how many bytes of UTF-8 the text of values takes. Values that are not text count nothing. */
export function textBytes(values: Iterable<unknown>): number {
  let bytes = 0
  for (const value of values) if (typeof value === 'string') bytes += Buffer.byteLength(value)
  return bytes
}

/** Limits the text of all values of a contact. @throws {AppError} request.invalid_field */
export function limitText(values: Iterable<unknown>): void {
  if (textBytes(values) > MAX_TEXT_BYTES) throw tooMuchText()
}

/** Returns the refusal of values with more text than a contact can have. */
export function tooMuchText(): AppError {
  const reason = `at most ${MAX_TEXT_BYTES / 1024} KiB of text in all attributes of a contact`
  return new AppError('request.invalid_field', { path: 'attributes', reason })
}

/** Returns the path of an attribute in errors, filters and history. */
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
      return text === undefined || text.length > MAX_TEXT_LENGTH || (required && text === '') ? undefined : text
    },
    reason: ({ required }) =>
      `must be a string of ${required ? 'at least one and ' : ''}at most ${MAX_TEXT_LENGTH} characters`,
  },
  number: {
    // JSON has no -0: stored as 0, so that a value equals its export.
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
