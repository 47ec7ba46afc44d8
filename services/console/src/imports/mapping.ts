/** Fields of a contact that a column can go to, besides attributes. */
export const FIELDS = ['email', 'name', 'tags', 'unsubscribed'] as const
const REQUIRED = ['email', 'name'] as const
const SAMPLES = 3

/** Column to target; a column without one is not imported. */
export type Mapping = Record<string, string>

/** What keeps a mapping from being used. */
export type MappingProblem = { kind: 'required' } | { kind: 'twice'; target: string }

/** Returns what is wrong with a mapping, undefined if nothing is. */
export function mappingProblem(mapping: Mapping): MappingProblem | undefined {
  const targets = Object.values(mapping)
  const twice = targets.find((target, index) => targets.indexOf(target) !== index)
  if (twice) return { kind: 'twice', target: twice }
  return REQUIRED.every(field => targets.includes(field)) ? undefined : { kind: 'required' }
}

/** Returns the mapping with another target of a column, or none. */
export function withTarget(mapping: Mapping, column: string, target: string | null): Mapping {
  const others = Object.fromEntries(Object.entries(mapping).filter(([name]) => name !== column))
  return target ? { ...others, [column]: target } : others
}

/** Returns the first values of a column that are not blank. */
export function samplesOf(rows: unknown, column: string): string[] {
  const values = (rows as Record<string, string>[]).map(row => row[column]?.trim() ?? '')
  return values.filter(value => value !== '').slice(0, SAMPLES)
}

const TYPES = {
  number: /^[+-]?\d+(\.\d+)?$/,
  date: /^\d{4}-\d{2}-\d{2}([T ][\d:.+Z-]+)?$/,
  boolean: /^(true|false|yes|no)$/i,
} as const

/** Returns the type of attribute that fits the values of a column. */
export function typeOfValues(values: readonly string[]): keyof typeof TYPES | 'string' {
  const types = Object.keys(TYPES) as (keyof typeof TYPES)[]
  const fits = types.find(type => values.every(value => TYPES[type].test(value)))
  return values.length > 0 && fits ? fits : 'string'
}
