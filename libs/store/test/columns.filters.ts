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

const friends = Array.from({ length: 5 }, () => new Types.ObjectId())
const names = [
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
const texts = ['Oslo', 'oslo', 'Rome', '', 'New York', 'Zürich', 'x'.repeat(256), 'x'.repeat(257)]
const dates = ['2020-01-01T00:00:00.000Z', '2021-06-15T12:00:00.000Z', '1969-12-31T23:59:59.999Z']
const pick = <T>(values: readonly T[], number: number): T => values[number % values.length]!

/** For tests: a person with values of every kind that a field can have, some of them none that its type has. */
export function oddPerson(number: number) {
  const any = [
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
  const attributes: Record<string, unknown> = {
    ...(number % 3 > 0 && { city: pick(texts, number * 7) }),
    ...(number % 4 > 0 && { score: (number * 13) % 50 }),
    ...(number % 5 > 0 && { since: new Date(pick(dates, number)) }),
  }
  const odd = pick(any, number * 11)
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

const operand: Record<string, fc.Arbitrary<unknown>> = {
  name: fc.constantFrom(...names, 'Person 7', 'nobody'),
  email: fc.constantFrom('Person7@example.com', 'person8@EXAMPLE.com'),
  age: fc.integer({ min: -1, max: 95 }),
  active: fc.boolean(),
  tags: fc.constantFrom('a', 'b', 'c d', 'é', 'z'),
  'attributes.city': fc.constantFrom(...texts, 'nowhere'),
  'attributes.score': fc.oneof(fc.integer({ min: -1, max: 51 }), fc.constant(7.5)),
  'attributes.since': fc.constantFrom(...dates),
  'attributes.any': fc.constantFrom(true, false, 0, 7, 7.5, 'seven', 'a', 'true'),
  friend: fc.constantFrom(...friends.map(String), '64b000000000000000000001'),
  seenAt: fc.constantFrom(...dates, 'now-30d'),
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
const textual = new Set(['name', 'email', 'tags', 'attributes.city', 'attributes.any'])

const conditionOn = (field: string): fc.Arbitrary<object> => {
  const value = operand[field]!
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
  if (field === 'tags')
    conditions.push(
      fc.array(value, { maxLength: 3 }),
      fc.nat(5).map($size => ({ $size })),
    )
  if (textual.has(field))
    conditions.push(
      fc
        .tuple(fc.constantFrom(...patterns), fc.constantFrom('', 'i'))
        .map(([$regex, $options]) => ({ $regex, $options })),
    )
  return fc.oneof(...conditions).map(condition => ({ [field]: condition }))
}

const condition = fc.constantFrom(...Object.keys(operand)).chain(conditionOn)
/** A condition that columns do not answer. */
const unknown = fc.constantFrom({ updatedAt: { $gt: 'now-30d' } }, { updatedAt: { $gt: '2990-01-01' } })
/** For tests: filters of every operator. */
export const { filter: anyFilter } = fc.letrec<{ filter: object }>(tie => {
  const some = fc.array(tie('filter'), { minLength: 1, maxLength: 3 })
  return {
    filter: fc.oneof(
      { maxDepth: 2, depthSize: 'small', withCrossShrink: true },
      { arbitrary: condition, weight: 6 },
      { arbitrary: unknown, weight: 1 },
      { arbitrary: fc.tuple(condition, condition).map(parts => ({ $and: parts })), weight: 2 },
      { arbitrary: some.map($or => ({ $or })), weight: 1 },
      { arbitrary: some.map($and => ({ $and })), weight: 1 },
      { arbitrary: some.map($nor => ({ $nor })), weight: 1 },
    ),
  }
})
