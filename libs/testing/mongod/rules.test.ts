import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Document, ObjectId } from 'bson'
import { isSubsetOf, matches, parseFilter } from './filters.ts'
import type { Recorded } from './record.ts'
import * as rules from './rules.ts'
import { indexOf } from './unique-values.ts'

const id = new ObjectId()
const least = new ObjectId('0'.repeat(24))

describe('a partial filter', () => {
  const implied: [query: Document, filter: Document][] = [
    [{ state: 'waiting' }, { state: 'waiting' }],
    [{ state: 'waiting' }, { state: { $in: ['waiting', 'active'] } }],
    [{ state: { $in: ['waiting', 'active'] } }, { state: { $in: ['waiting', 'active'] } }],
    [{ lists: id }, { lists: { $exists: true } }],
    [{ lists: { $in: [id] } }, { lists: { $exists: true } }],
    [{ $and: [{ organization: id }, { user: id }] }, { user: { $gt: least } }],
    [{ $or: [{ user: id }, { user: { $gt: id } }] }, { user: { $gt: least } }],
    [{ age: { $gte: 8 } }, { age: { $gt: 5 } }],
    [{ age: { $lt: 5 } }, { age: { $lt: 5 } }],
    [{ user: id, name: { $type: 'string' } }, { name: { $type: 'string' } }],
    [
      { a: 1, b: 2, c: 3 },
      { a: 1, b: { $gt: 1 } },
    ],
  ]
  const notImplied: [query: Document, filter: Document][] = [
    [{ user: id }, { user: { $type: 'objectId' } }],
    [{ user: { $in: [id, null] } }, { user: { $exists: true } }],
    [{ user: null }, { user: { $exists: true } }],
    [{ $or: [{ user: id }, { name: 'x' }] }, { user: { $gt: least } }],
    [{ age: { $gte: 5 } }, { age: { $gt: 5 } }],
    [{ age: '8' }, { age: { $gt: 5 } }],
    [{ state: 'done' }, { state: { $in: ['waiting', 'active'] } }],
    [{}, { state: 'waiting' }],
  ]
  for (const [query, filter] of implied) {
    it(`${JSON.stringify(filter)} is implied by ${JSON.stringify(query)}`, () => {
      assert.ok(isSubsetOf(parseFilter(query), parseFilter(filter)))
    })
  }
  for (const [query, filter] of notImplied) {
    it(`${JSON.stringify(filter)} is not implied by ${JSON.stringify(query)}`, () => {
      assert.ok(!isSubsetOf(parseFilter(query), parseFilter(filter)))
    })
  }

  it('matches documents', () => {
    assert.ok(matches({ user: id }, parseFilter({ user: { $type: 'objectId' } })))
    assert.ok(!matches({ user: null }, parseFilter({ user: { $type: 'objectId' } })))
    assert.ok(matches({ lists: [id] }, parseFilter({ lists: { $gt: least } })))
    assert.ok(!matches({}, parseFilter({ lists: { $exists: true } })))
  })
})

describe('rules', () => {
  const unique = indexOf({ name: 'email', key: { organization: 1, emailKey: 1 }, unique: true })
  const byTime = indexOf({ name: 'time', key: { organization: 1, at: -1, _id: -1 } })
  const linked = indexOf({
    name: 'user',
    key: { organization: 1, user: 1 },
    partialFilterExpression: { user: { $type: 'objectId' } },
  })
  const find = (parts: Partial<Recorded>): Recorded => ({
    name: 'find',
    collection: 'contacts',
    filter: { organization: id },
    sort: {},
    readConcern: {},
    readPreference: 'primary',
    hasTimeLimit: true,
    inTransaction: false,
    indexes: [unique, byTime, linked],
    ...parts,
  })
  const cases: [rule: rules.Rule, broken: Partial<Recorded>, kept: Partial<Recorded>][] = [
    [
      rules.partialFiltersAreImplied,
      { filter: { organization: id, user: id } },
      { filter: { organization: id, user: null } }, // nothing of it is in the index
    ],
    [rules.sortsAreHeld, { sort: { emailKey: 1, _id: 1 } }, { sort: { at: 1, _id: 1 } }],
    [rules.sortsAreHeld, { sort: { at: 1, _id: -1 } }, { sort: { emailKey: -1 } }],
    [rules.sortsAreHeld, { sort: { name: 1 } }, { sort: { name: 1 }, name: 'aggregate' }],
    [
      rules.sortsAreHeld,
      { sort: { emailKey: 1, _id: 1 }, name: 'aggregate' },
      { sort: { at: 1, name: 1 }, name: 'aggregate' },
    ],
    [
      rules.outboxIsReadAtMajority,
      { collection: 'outbox', filter: { sentAt: null } },
      { collection: 'outbox', filter: { sentAt: null }, readConcern: { level: 'majority' } },
    ],
    [
      rules.credentialsAreConfirmed,
      { collection: 'tokens', filter: { hash: { $in: ['x'] } }, readConcern: { level: 'majority' } },
      {
        collection: 'tokens',
        filter: { hash: { $in: ['x'] } },
        readConcern: { level: 'majority', afterClusterTime: 1 },
      },
    ],
    [
      rules.credentialsAreConfirmed,
      { collection: 'sessions', filter: { _id: id, user: id } },
      { collection: 'sessions', filter: { user: id } },
    ],
    [
      rules.listsAreBounded,
      { filter: { _id: { $in: Array(1025).fill(id) } } },
      { filter: { _id: { $in: Array(1024).fill(id) } } },
    ],
    [rules.readsAreLimited, { hasTimeLimit: false }, {}],
    [rules.readsGoToPrimary, { readPreference: 'secondaryPreferred' }, {}],
  ]
  for (const [rule, broken, kept] of cases) {
    it(`${rule.name}: ${JSON.stringify({ ...broken.sort, ...broken.readConcern })}`, () => {
      assert.equal(rules.findingsOf([find(broken), find(kept)], [rule]).length, 1)
      assert.equal(rule.find(find(kept)), undefined)
    })
  }
})
