import fc from 'fast-check'

/** A JSON Schema of the API description. */
export type Schema = {
  $ref?: string
  oneOf?: Schema[]
  enum?: unknown[]
  type?: string | string[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  minProperties?: number
  additionalProperties?: boolean | Schema
}

/** Sources of generated values. */
export type Source = {
  /** Returns the schema of a reference. */
  resolve(reference: string): Schema
  /** A word that every longer text contains. */
  word: string
  /**
   * Returns a meaningful value for the field of this name, or undefined for a generated one. Called for each value, so
   * that new knowledge is used at once.
   */
  recall(name: string, chance: number): unknown
}

const textTypes = ['string']
const smallest = 0
const largest = 1000

/**
 * Returns valid values of a schema for the field of this name: mostly typical, sometimes as odd as the schema allows.
 */
export function fitting(schema: Schema, name: string, source: Source): fc.Arbitrary<unknown> {
  if (schema.$ref) return fitting(source.resolve(schema.$ref), name, source)
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(option => fitting(option, name, source)))
  const [type, ...others] = [schema.type ?? textTypes].flat()
  const made = fc.oneof(
    { weight: 6, arbitrary: ofType(type!, schema, name, source) },
    ...others.map(other => ({ weight: 1, arbitrary: ofType(other, schema, name, source) })),
  )
  if (type === 'array') return made
  return fc.tuple(made, fc.nat()).map(([fresh, chance]) => {
    const known = source.recall(name, chance)
    const fits = known !== undefined && (schema.enum?.includes(known) ?? true)
    return fits ? known : fresh
  })
}

function ofType(type: string, schema: Schema, name: string, source: Source): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (type === 'null') return fc.constant(null)
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer' || type === 'number') {
    const { minimum = smallest, maximum = largest } = schema
    return fc.integer({ min: minimum, max: maximum })
  }
  if (type === 'array') return arrayOf(schema, name, source)
  if (type === 'object') return objectOf(schema, source)
  return textOf(schema, name, source)
}

function arrayOf({ items = {}, minItems = 0, maxItems = 3 }: Schema, name: string, source: Source) {
  return fc.array(fitting(items, name, source), { minLength: minItems, maxLength: Math.min(maxItems, 3) })
}

/** Returns objects with the required properties and some others; with any if the schema allows any. */
function objectOf(schema: Schema, source: Source): fc.Arbitrary<object> {
  const { properties = {}, required = [], minProperties = 0, additionalProperties } = schema
  const entries = Object.entries(properties).map(([name, property]) => {
    const entry = fc.tuple(fc.constant(name), fitting(property, name, source))
    return required.includes(name) ? entry : sometimes(entry)
  })
  const free = additionalProperties
    ? fc.array(freeEntry(additionalProperties, source), { maxLength: 2 })
    : fc.constant([])
  return fc
    .tuple(fc.tuple(...entries), free)
    .map(([own, more]) => Object.fromEntries([...more, ...own.filter(entry => entry !== undefined)]))
    .filter(made => Object.keys(made).length >= minProperties)
}

function freeEntry(values: true | Schema, source: Source): fc.Arbitrary<[string, unknown]> {
  const value = values === true ? fc.oneof(word(source), fc.boolean(), fc.nat(9)) : fitting(values, '', source)
  return fc.tuple(word(source), value)
}

function textOf(schema: Schema, name: string, source: Source): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = 200 } = schema
  const isAllowed = pattern ? new RegExp(pattern, 'u') : undefined
  if (pattern && !isAllowed?.test(source.word)) return matching(pattern)
  if (format === 'email') return word(source).map(text => `${text}@example.com`)
  if (format === 'uri') return word(source).map(text => `https://example.com/${text}`)
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map(date => date.toISOString())
  if (name === 'domain' || name === 'host') return word(source).map(text => `${text}.example.com`)
  const within = (text: string) => {
    const sized = text.padEnd(minLength, 'x').slice(0, maxLength).toWellFormed()
    return isAllowed?.test(sized) === false ? source.word : sized
  }
  return fc.oneof({ weight: 12, arbitrary: word(source) }, { weight: 1, arbitrary: oddText }).map(within)
}

/** Created once, because a set of all characters is large. */
const oddText = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 })

const made = new Map<string, fc.Arbitrary<string>>()

/** Created once per pattern, because it is slow. */
function matching(pattern: string): fc.Arbitrary<string> {
  const texts = made.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'))
  made.set(pattern, texts)
  return texts
}

function word({ word }: Source): fc.Arbitrary<string> {
  return fc.nat(0xffffff).map(number => `${word}${number.toString(36)}`)
}

/** Undefined except for this share. */
export function sometimes<T>(arbitrary: fc.Arbitrary<T>, share = 0.5): fc.Arbitrary<T | undefined> {
  const missing = { weight: Math.round((1 - share) * 100), arbitrary: fc.constant(undefined) }
  return fc.oneof({ weight: Math.round(share * 100), arbitrary }, missing)
}
