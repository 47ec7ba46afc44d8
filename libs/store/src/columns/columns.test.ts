import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type Model, Types } from 'mongoose'
import { tryColumns } from '../../test/columns.harness.ts'
import { columnModels, peopleWithColumns } from '../../test/columns.ts'
import { draft, newOrganization, type Person, people, testStore } from '../../test/store.ts'
import type { FieldTable } from '../query/fields.ts'
import { parseFilter } from '../query/filter.ts'
import type { Store } from '../tenancy/connection.ts'
import { checkRowGroup } from './check.ts'
import { rewriteRowGroup } from './rewrite.ts'
import { GROUP_ROWS } from './row-group.model.ts'

const fields: FieldTable = {
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

const PEOPLE = GROUP_ROWS + 500
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

/** Values of every kind that a field can have, some of them none that its type has. */
function personOf(number: number) {
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
/** A filter of an object, which columns do not answer. */
const unknown = fc.constantFrom({ updatedAt: { $gt: 'now-30d' } }, { updatedAt: { $gt: '2990-01-01' } })
const { filter: anyFilter } = fc.letrec<{ filter: object }>(tie => {
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

describe('columns', () => {
  let store: Store
  let drop: () => Promise<void>
  let model: Model<Person>
  before(async () => {
    ;({ store, drop } = await testStore())
    columnModels(store)
    model = await people(store)
  })
  after(() => drop())

  it('find what the database finds', async () => {
    const world = peopleWithColumns(store, model, newOrganization())
    for (let from = 0; from < PEOPLE; from += 1000)
      await world.add(Array.from({ length: Math.min(1000, PEOPLE - from) }, (_, index) => personOf(from + index)))
    const compare = async (filter: object) => {
      const { found, expected } = await world.both(filter)
      if (found) assert.deepEqual(found, expected, JSON.stringify(filter))
      return found !== undefined
    }
    assert.equal(await compare({ name: 'Ann' }), false, 'without columns')
    for (const group of [0, 1]) assert.ok(await rewriteRowGroup(world.data, group))
    for (const group of [0, 1]) assert.deepEqual(await checkRowGroup(world.data, group), [])
    let answered = 0
    const agrees = fc.asyncProperty(anyFilter, async filter => {
      if (await compare(parseFilter(JSON.stringify(filter), fields))) answered++
    })
    await fc.assert(agrees, { numRuns: 150 })
    assert.ok(answered > 100, `${answered} answered`)
  })

  it('are exact while others write, rewrite and are killed', async t => {
    const report = await tryColumns(store, model, { searches: 150, kills: 2, seed: 1 })
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.wrong, [])
    assert.ok(report.answered > report.searches / 2)
  })

  it('are not if writers do not note stale rows', async () => {
    const report = await tryColumns(store, model, { searches: 100, kills: 0, seed: 1, withoutNotes: true })
    assert.notDeepEqual(report.wrong, [])
  })
})
