import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createLogger } from '@rollcall/runtime'
import { connectStore, insertOf, parseFilter, type Store } from '@rollcall/store'
import fc from 'fast-check'
import { Types } from 'mongoose'
import { collections } from '../../services/audience/src/collections.ts'
import { contactFields } from '../../services/audience/src/contacts/contact.model.ts'
import {
  fromFilter,
  inputOf,
  isGroup,
  newGroup,
  type OperatorName,
  operatorsOf,
  type Rule,
  type RuleField,
  type RuleGroup,
  type RuleValue,
  rulesOf,
  type Span,
  toFilter,
} from '../../services/console/src/contacts/rules.ts'
import { counted, seed } from '../soak.ts'

const LISTS = [1, 2, 3].map(number => String(number).padStart(24, 'a'))
const TEXTS = ['pro', 'team', 'Pro (new)', 'a.b*c', '^x$', 'München']
const TAGS = ['vip', 'new', 'old']
const DAY_MS = 86_400_000
const UNIT_MS = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS }

const choice = (values: readonly string[]) => values.map(value => ({ value, label: value }))
const field = (name: string, kind: RuleField['kind'], rest: Partial<RuleField> = {}): RuleField => ({
  name,
  label: name,
  kind,
  isOptional: name.startsWith('attributes.'),
  ...rest,
})
const fields: RuleField[] = [
  field('name', 'text'),
  field('tags', 'tags'),
  field('lists', 'lists', { options: choice(LISTS) }),
  field('unsubscribed', 'boolean'),
  field('source', 'choice', { options: choice(['api', 'import']) }),
  field('createdAt', 'date'),
  field('attributes.plan', 'choice', { options: choice(TEXTS) }),
  field('attributes.note', 'text'),
  field('attributes.score', 'number'),
  field('attributes.due', 'date'),
  field('attributes.active', 'boolean'),
]
const types = { plan: 'enum', note: 'string', score: 'number', due: 'date', active: 'boolean' } as const
const definitions = new Map(Object.entries(types).map(([slug, type]) => [slug, { slug, type } as never]))

type Contact = Record<string, unknown> & { attributes: Record<string, unknown> }

/** Whether a contact has what a group says: the meaning that people read in it. */
function holds(entry: Rule | RuleGroup, contact: Contact, now: number): boolean {
  if (isGroup(entry)) {
    const each = (rule: Rule | RuleGroup) => holds(rule, contact, now)
    return entry.join === 'and' ? entry.rules.every(each) : entry.rules.some(each)
  }
  const slug = /^attributes\.(.*)$/.exec(entry.field)?.[1]
  const stored = slug ? contact.attributes[slug] : contact[entry.field]
  return meanings[entry.operator](stored, entry.value as never, now)
}

const time = (stored: unknown) => (stored instanceof Date ? stored.getTime() : undefined)
const lengthOf = ({ count, unit }: Span) => count * UNIT_MS[unit]
const within = (text: unknown, part: string) =>
  typeof text === 'string' && text.toLowerCase().includes(part.toLowerCase())
const items = (stored: unknown) => ((stored ?? []) as unknown[]).map(String)
const isOver = (stored: unknown, test: (number: number) => boolean) => typeof stored === 'number' && test(stored)
const isAt = (stored: unknown, test: (at: number) => boolean) => time(stored) !== undefined && test(time(stored)!)

const meanings: Record<OperatorName, (stored: unknown, value: never, now: number) => boolean> = {
  is: (stored, value) => stored === value,
  isNot: (stored, value) => stored !== value,
  contains: (stored, value) => within(stored, value),
  startsWith: (stored, value: string) =>
    typeof stored === 'string' && stored.toLowerCase().startsWith(value.toLowerCase()),
  equals: (stored, value) => stored === value,
  differs: (stored, value) => stored !== value,
  over: (stored, value) => isOver(stored, number => number > value),
  atLeast: (stored, value) => isOver(stored, number => number >= value),
  under: (stored, value) => isOver(stored, number => number < value),
  atMost: (stored, value) => isOver(stored, number => number <= value),
  isTrue: (stored, value) => stored === value,
  inLast: (stored, value, now) => isAt(stored, at => at >= now - lengthOf(value)),
  notInLast: (stored, value, now) => isAt(stored, at => at < now - lengthOf(value)),
  inNext: (stored, value, now) => isAt(stored, at => at >= now && at <= now + lengthOf(value)),
  since: (stored, value) => isAt(stored, at => at >= Date.parse(value)),
  before: (stored, value) => isAt(stored, at => at < Date.parse(value)),
  isOption: (stored, value) => stored === value,
  isNotOption: (stored, value) => stored !== value,
  isOneOf: (stored, value: string[]) => value.includes(stored as string),
  isNoneOf: (stored, value: string[]) => !value.includes(stored as string),
  hasAny: (stored, value: string[]) => value.some(each => items(stored).includes(each)),
  hasAll: (stored, value: string[]) => value.every(each => items(stored).includes(each)),
  hasNone: (stored, value: string[]) => !value.some(each => items(stored).includes(each)),
  onAny: (stored, value: string[]) => value.some(each => items(stored).includes(each)),
  onNone: (stored, value: string[]) => !value.some(each => items(stored).includes(each)),
  onSome: stored => items(stored).length > 0,
  onNothing: stored => items(stored).length === 0,
  isSet: stored => stored !== undefined && stored !== null,
  isMissing: stored => stored === undefined || stored === null,
}

/** Values that an input can give for a field. */
function valuesOf({ kind, options = [] }: RuleField, operator: OperatorName): fc.Arbitrary<RuleValue> {
  const known = kind === 'tags' ? TAGS : options.map(({ value }) => value)
  const some = fc.uniqueArray(fc.constantFrom(...(known.length > 0 ? known : TEXTS)), { minLength: 1, maxLength: 3 })
  const dayAt = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
  const inputs = {
    none: fc.constant(undefined),
    number: fc.integer({ min: -3, max: 3 }),
    truth: fc.boolean(),
    day: fc.integer({ min: -60, max: 60 }).map(dayAt),
    span: fc.record({ count: fc.integer({ min: 1, max: 40 }), unit: fc.constantFrom('h', 'd', 'w') }),
    option: fc.constantFrom(...(known.length > 0 ? known : TEXTS)),
    options: some,
    tags: some,
    text: fc.oneof(fc.constantFrom(...TEXTS), fc.constantFrom('p', '(', '.', '*', '^', '\\', 'ü', ' ')),
  } as const
  return inputs[inputOf(operator)] as fc.Arbitrary<RuleValue>
}

const rule: fc.Arbitrary<Rule> = fc
  .constantFrom(...fields)
  .chain(field => fc.tuple(fc.constant(field), fc.constantFrom(...operatorsOf(field))))
  .chain(([field, operator]) =>
    valuesOf(field, operator).map(value => ({
      id: 0,
      field: field.name,
      operator,
      ...(value !== undefined && { value }),
    })),
  )
const groupOf = (entry: fc.Arbitrary<Rule | RuleGroup>, minLength: number) =>
  fc
    .tuple(fc.array(entry, { minLength, maxLength: 4 }), fc.constantFrom('and' as const, 'or' as const))
    .map(([rules, join]) => newGroup(rules, join))
const inner = groupOf(rule, 1)
const patterns = (group: RuleGroup) => rulesOf(group).filter(({ operator }) => /^(contains|startsWith)$/.test(operator))
/** Groups that the builder can make: the API takes three patterns. */
const group = groupOf(fc.oneof({ weight: 3, arbitrary: rule }, inner), 0).filter(
  group => rulesOf(group).length <= 15 && patterns(group).length <= 3,
)

describe('the filter builder of the console', () => {
  let store: Store
  const organization = new Types.ObjectId()
  const contacts = randomContacts()
  const of = () => collections(store).of(organization).contacts
  before(async () => {
    const logger = createLogger({ service: 'test', level: 'silent' })
    store = await connectStore({ url: process.env.MONGODB_URL!, dbName: `rules-test-${organization}`, logger })
    await of().bulkWrite(contacts.map(insertOf))
  })
  after(async () => {
    await store?.connection.dropDatabase()
    await store?.close()
  })

  /** Contacts with and without values, near the values of rules. */
  function randomContacts(): Contact[] {
    const now = Date.now()
    const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
    const at = fc.integer({ min: -60 * 24, max: 60 * 24 }).map(hours => new Date(now + hours * 3_600_000 + 1_234_567))
    const contact = fc.record({
      name: fc.constantFrom(...TEXTS, ''),
      tags: fc.subarray(TAGS),
      lists: maybe(fc.subarray(LISTS).map(ids => ids.map(id => new Types.ObjectId(id)))),
      unsubscribed: fc.boolean(),
      source: fc.constantFrom('api', 'import'),
      createdAt: at,
      attributes: fc.record(
        {
          plan: fc.constantFrom(...TEXTS),
          note: fc.constantFrom(...TEXTS),
          score: fc.integer({ min: -3, max: 3 }),
          due: at,
          active: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    })
    return fc.sample(contact, { numRuns: 60, seed }).map(({ lists, ...values }, position) => ({
      ...values,
      ...(lists && { lists }),
      _id: new Types.ObjectId(),
      organization,
      email: `c${position}@example.com`,
      emailKey: `c${position}@example.com`,
      position,
    }))
  }

  it('makes filters that the API takes and that mean the same, and reads them again', async () => {
    const names = new Set<string>()
    await fc.assert(
      fc.asyncProperty(group, async wanted => {
        const filter = toFilter(wanted)
        const read = fromFilter(filter, fields)
        assert.ok(read, JSON.stringify(filter))
        for (const { operator } of rulesOf(wanted)) names.add(operator)
        const now = new Date()
        const expected = contacts.filter(
          contact => rulesOf(wanted).length === 0 || holds(wanted, contact, now.getTime()),
        )
        for (const text of new Set([filter, toFilter(read)].map(each => JSON.stringify(each)))) {
          const found = await of().find(parseFilter(text, contactFields(definitions), now))
          assert.deepEqual(
            found.map(({ email }) => email).toSorted(),
            expected.map(({ email }) => String(email)).toSorted(),
            text,
          )
        }
      }),
      { numRuns: counted(300, 5000), seed },
    )
    assert.equal(names.size, Object.keys(meanings).length, 'every operator was tried')
  })
})
