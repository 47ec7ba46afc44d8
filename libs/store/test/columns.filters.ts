import fc from 'fast-check'
import { Types } from 'mongoose'
import type { FieldTable } from '../src/query/fields.ts'
import { draft } from './store.ts'

/** For tests: the fields that filters of people with columns name. */
export const columnFields: FieldTable = {
  email: { type: 'string', key: { path: 'emailKey', of: text => text.toLowerCase() } },
  name: 'string',
  age: 'number',
  active: 'boolean',
  tags: 'string[]',
  'attributes.city': 'string',
  'attributes.score': 'number',
  'attributes.since': 'date',
  'attributes.any': 'scalar',
  friend: 'objectId',
  seenAt: 'date',
}

/** Values that filters of a field compare it with; `isText` allows patterns, `isSet` conditions on whole arrays. */
export type Operand = { values: fc.Arbitrary<unknown>; isText?: boolean; isSet?: boolean }

const friends = Array.from({ length: 5 }, () => new Types.ObjectId())
/** For tests: names that differ by case, script and whitespace only, or hold what patterns treat specially. */
export const names = [
  'Ann',
  'ann',
  'Ångström',
  'Bob\n',
  'line\nbreak',
  '',
  'Straße',
  'ſoft Kelvin \u212a',
  'x.y*z',
  '李雷',
  '😀 Ann',
]
/** For tests: texts of all lengths that columns treat differently. */
export const texts = ['Oslo', 'oslo', 'Rome', '', 'New York', 'Zürich', 'x'.repeat(256), 'x'.repeat(257)]
/** For tests: dates on both sides of 1970. */
export const dates = ['2020-01-01T00:00:00.000Z', '2021-06-15T12:00:00.000Z', '1969-12-31T23:59:59.999Z']
const pick = <T>(values: readonly T[], number: number): T => values[number % values.length]!

/** For tests: values that the type of a field excludes. */
export const oddValues: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  7,
  7.5,
  -3,
  'seven',
  ['a', 7],
  [],
  [['a']],
  { a: 1 },
  [null],
  Number.NaN,
]

/** For tests: a person with values of every kind that a field can have, some of them none that its type has. */
export function oddPerson(number: number) {
  const attributes: Record<string, unknown> = {
    ...(number % 3 > 0 && { city: pick(texts, number * 7) }),
    ...(number % 4 > 0 && { score: (number * 13) % 50 }),
    ...(number % 5 > 0 && { since: new Date(pick(dates, number)) }),
  }
  const odd = pick(oddValues, number * 11)
  if (odd !== undefined) attributes.any = odd
  return draft(number, {
    name: number % 2 === 0 ? pick(names, number * 5) : `Person ${number % 300}`,
    age: number % 6 === 0 ? null : number % 90,
    active: number % 7 > 0,
    tags: ['a', 'b', 'c d', 'é'].slice(0, number % 5),
    friend: number % 3 === 0 ? null : pick(friends, number),
    seenAt: number % 4 === 0 ? null : new Date(pick(dates, number)),
    attributes,
  })
}

const operands: Record<string, Operand> = {
  name: { values: fc.constantFrom(...names, 'Person 7', 'nobody'), isText: true },
  email: { values: fc.constantFrom('Person7@example.com', 'person8@EXAMPLE.com'), isText: true },
  age: { values: fc.integer({ min: -1, max: 95 }) },
  active: { values: fc.boolean() },
  tags: { values: fc.constantFrom('a', 'b', 'c d', 'é', 'z'), isText: true, isSet: true },
  'attributes.city': { values: fc.constantFrom(...texts, 'nowhere'), isText: true },
  'attributes.score': { values: fc.oneof(fc.integer({ min: -1, max: 51 }), fc.constant(7.5)) },
  'attributes.since': { values: fc.constantFrom(...dates) },
  'attributes.any': { values: fc.constantFrom(true, false, 0, 7, 7.5, 'seven', 'a', 'true'), isText: true },
  friend: { values: fc.constantFrom(...friends.map(String), '64b000000000000000000001') },
  seenAt: { values: fc.constantFrom(...dates, 'now-30d') },
}
const patterns = ['Ann', 'ann$', '^A', '^person 1', 'o', 'x.y', String.raw`x\.y\*`, '[a-z].*[0-9]', String.raw`\bann\b`]
patterns.push(
  String.raw`\d{2}$`,
  's{1,2}',
  'K',
  'é',
  'n.?$',
  '(o|e)r',
  String.raw`\s`,
  '[^a-z]',
  '雷',
  '^.$',
  'ss',
  '.*',
)

const conditionOn = (field: string, { values: value, isText, isSet }: Operand): fc.Arbitrary<object> => {
  const orNull = fc.oneof({ arbitrary: value, weight: 5 }, { arbitrary: fc.constant(null), weight: 1 })
  const conditions: fc.Arbitrary<unknown>[] = [
    orNull,
    fc.tuple(fc.constantFrom('$eq', '$ne'), orNull).map(([operator, value]) => ({ [operator]: value })),
    fc.tuple(fc.constantFrom('$gt', '$gte', '$lt', '$lte'), value).map(([operator, value]) => ({ [operator]: value })),
    fc.tuple(value, value).map(([$gte, $lt]) => ({ $gte, $lt })),
    fc
      .tuple(fc.constantFrom('$in', '$nin', '$all'), fc.array(orNull, { maxLength: 4 }))
      .map(([operator, values]) => ({ [operator]: values })),
    fc.boolean().map($exists => ({ $exists })),
  ]
  if (isSet)
    conditions.push(
      fc.array(value, { maxLength: 3 }),
      fc.nat(5).map($size => ({ $size })),
    )
  if (isText)
    conditions.push(
      fc
        .tuple(fc.constantFrom(...patterns), fc.constantFrom('', 'i'))
        .map(([$regex, $options]) => ({ $regex, $options })),
    )
  return fc.oneof(...conditions).map(condition => ({ [field]: condition }))
}

/** A condition that columns do not answer. */
const unknown = fc.constantFrom({ updatedAt: { $gt: 'now-30d' } }, { updatedAt: { $gt: '2990-01-01' } })

/** For tests: filters of every operator on some fields. `unanswered` are conditions that columns do not answer. */
export function filtersOn(
  operands: Readonly<Record<string, Operand>>,
  unanswered?: fc.Arbitrary<object>,
): fc.Arbitrary<object> {
  const condition = fc.constantFrom(...Object.keys(operands)).chain(field => conditionOn(field, operands[field]!))
  return fc.letrec<{ filter: object }>(tie => {
    const some = fc.array(tie('filter'), { minLength: 1, maxLength: 3 })
    return {
      filter: fc.oneof(
        { maxDepth: 2, depthSize: 'small', withCrossShrink: true },
        { arbitrary: condition, weight: 6 },
        ...(unanswered ? [{ arbitrary: unanswered, weight: 1 }] : []),
        { arbitrary: fc.tuple(condition, condition).map(parts => ({ $and: parts })), weight: 2 },
        { arbitrary: some.map($or => ({ $or })), weight: 1 },
        { arbitrary: some.map($and => ({ $and })), weight: 1 },
        { arbitrary: some.map($nor => ({ $nor })), weight: 1 },
      ),
    }
  }).filter
}

/** For tests: filters of people. */
export const anyFilter = filtersOn(operands, unknown)
