import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AppError, type ListQuery } from '@rollcall/contract'
import fc from 'fast-check'
import { type Model, type PaginateModel, Schema, type Types } from 'mongoose'
import paginate from 'mongoose-paginate-v2'
import {
  draft,
  newOrganization,
  type Person,
  people,
  personFields,
  recordingStore,
  testStore,
} from '../../test/store.ts'
import { createMatchMemory } from '../positions/matches.ts'
import { BLOCK, blocksOf, positions, rangeOf } from '../positions/positions.ts'
import type { Store } from '../tenancy/connection.ts'
import { type Scope, scoped } from '../tenancy/scope.ts'
import type { Page } from './envelope.ts'
import { type ListOptions, listRecords, runList } from './list.ts'
import { reference } from './populate.ts'

let store: Store
let drop: () => Promise<void>
let model: Model<Person>

before(async () => {
  ;({ store, drop } = await testStore())
  model = await people(store)
})
after(() => drop())

type Shown = Record<string, unknown>

/** Runs a list and reads its answer as a client would. */
async function list(scope: Scope<Person>, query: ListQuery, more: Partial<ListOptions<Person>> = {}) {
  const answer = await runList({ scope, query, fields: personFields, ...more })
  if (!(Symbol.asyncIterator in answer)) return JSON.parse(String(answer.data)) as Page & { docs: Shown[] }
  throw new Error('a stream')
}

async function all(scope: Scope<Person>, query: ListQuery, more: Partial<ListOptions<Person>> = {}): Promise<Shown[]> {
  const answer = await runList({ scope, query: { ...query, pagination: false }, fields: personFields, ...more })
  assert.ok(Symbol.asyncIterator in answer)
  const chunks: Buffer[] = []
  for await (const { contentType, data } of answer) {
    assert.match(contentType, /^application\/json/)
    chunks.push(data)
  }
  return JSON.parse(String(Buffer.concat(chunks))) as Shown[]
}

const namesOf = (records: Shown[]) => records.map(({ name }) => name)
const idsOf = (records: Shown[]) => records.map(record => record._id)

describe('the envelope', () => {
  it('is that of mongoose-paginate-v2, for any page of any list', async () => {
    const organization = newOrganization()
    const mine = scoped(model, organization)
    const size = 60
    await mine.insertMany(Array.from({ length: size }, (_, age) => draft(age, { age })))
    const schema = new Schema({ organization: Schema.Types.ObjectId, age: Number }, { collection: 'people' })
    schema.plugin(paginate)
    const oracle = store.connection.model('Oracle', schema) as unknown as PaginateModel<object>
    const odd = fc.constantFrom(0, -1, Number.NaN, 1.9, 2000, 1000, 1001)
    const parameter = fc.oneof(fc.integer({ min: -3, max: 12 }), odd)

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: size }), parameter, parameter, async (total, page, limit) => {
        const { docs, ...envelope } = await list(mine, { page, limit, filter: JSON.stringify({ age: { $lt: total } }) })
        const expectedLimit = limit >= 1 ? Math.min(Math.floor(limit), 1000) : 10
        const options = { page: page >= 1 ? Math.floor(page) : 1, limit: expectedLimit, sort: { _id: -1 }, lean: true }
        const expected = await oracle.paginate({ organization, age: { $lt: total } }, options)
        const { docs: expectedDocs, ...expectedEnvelope } = JSON.parse(JSON.stringify(expected)) as Page & {
          docs: Shown[]
        }
        assert.deepEqual(Object.entries(envelope), Object.entries(expectedEnvelope))
        assert.deepEqual(idsOf(docs), idsOf(expectedDocs))
      }),
      { numRuns: 150 },
    )
  })

  it('takes the defaults for what is not given', async () => {
    const { docs, limit, page } = await list(scoped(model, newOrganization()), {})
    assert.deepEqual([docs, limit, page], [[], 10, 1])
  })
})

describe('a list', () => {
  let mine: Scope<Person>
  let stored: Person[]

  before(async () => {
    mine = scoped(model, newOrganization())
    const drafts = Array.from({ length: 30 }, (_, number) =>
      draft(number, {
        age: number % 7,
        active: number % 3 === 0,
        tags: [`t${number % 4}`, ...(number % 2 ? ['odd'] : [])],
        attributes: { ...(number % 5 ? { city: `c${number % 5}` } : {}), score: number },
        seenAt: number % 6 ? new Date(Date.UTC(2026, 0, 1 + number)) : null,
      }),
    )
    stored = await mine.insertMany(drafts)
    await scoped(model, newOrganization()).insertMany(drafts)
  })

  it('shows public fields alone, newest first', async () => {
    const { docs, totalDocs } = await list(mine, { limit: 2 })
    assert.equal(totalDocs, 30)
    assert.deepEqual(namesOf(docs), ['Person 29', 'Person 28'])
    const newest = stored.at(-1)!
    assert.deepEqual(docs[0], {
      _id: String(newest._id),
      id: String(newest._id),
      email: 'Person29@example.com',
      name: 'Person 29',
      age: 1,
      active: false,
      tags: ['t1', 'odd'],
      attributes: { city: 'c4', score: 29 },
      friend: null,
      seenAt: '2026-01-30T00:00:00.000Z',
      createdAt: newest.createdAt.toISOString(),
      updatedAt: newest.updatedAt.toISOString(),
    })
  })

  it('answers what a reading of the filter record by record would', async () => {
    const cases: [string, (person: Person) => boolean][] = [
      ['{"email":"PERSON7@EXAMPLE.COM"}', person => person.emailKey === 'person7@example.com'],
      ['{"email":{"$in":["person7@example.com","PERSON8@example.com"]}}', ({ name }) => /^Person [78]$/.test(name)],
      ['{"email":{"$regex":"^Person1"}}', ({ email }) => email.startsWith('Person1')],
      ['{"email":{"$regex":"^PERSON1","$options":"i"}}', ({ email }) => email.startsWith('Person1')],
      ['{"email":{"$regex":"SON1@EXAMPLE.","$options":"i"}}', ({ name }) => name === 'Person 1'],
      ['{"email":{"$regex":"son1"}}', ({ email }) => email.includes('son1')],
      ['{"name":{"$regex":"PERSON 2","$options":"i"}}', ({ name }) => name.startsWith('Person 2')],
      ['{"age":{"$gte":2,"$lt":5}}', ({ age }) => age! >= 2 && age! < 5],
      ['{"age":{"$nin":[1,2]},"active":true}', ({ age, active }) => age !== 1 && age !== 2 && active],
      ['{"tags":"odd"}', ({ tags }) => tags.includes('odd')],
      ['{"tags":{"$all":["odd","t1"]}}', ({ tags }) => tags.includes('odd') && tags.includes('t1')],
      ['{"tags":{"$size":2}}', ({ tags }) => tags.length === 2],
      ['{"tags":["t0"]}', ({ tags }) => tags.length === 1 && tags[0] === 't0'],
      ['{"attributes.city":"c1"}', ({ attributes }) => attributes.city === 'c1'],
      ['{"attributes":{"score":{"$lt":4}}}', ({ attributes }) => Number(attributes.score) < 4],
      ['{"attributes":{"score":10}}', ({ attributes }) => JSON.stringify(attributes) === '{"score":10}'],
      ['{"attributes.city":{"$exists":false}}', ({ attributes }) => attributes.city === undefined],
      ['{"attributes.city":null}', ({ attributes }) => attributes.city === undefined],
      ['{"seenAt":null}', ({ seenAt }) => seenAt === null],
      ['{"seenAt":{"$gte":"2026-01-20"}}', ({ seenAt }) => seenAt !== null && seenAt >= new Date('2026-01-20')],
      [
        '{"$or":[{"age":6},{"tags":"t3"}],"active":{"$ne":true}}',
        person => !person.active && (person.age === 6 || person.tags.includes('t3')),
      ],
      ['{"$nor":[{"age":{"$gt":0}},{"active":true}]}', ({ age, active }) => !(age! > 0) && !active],
      [
        '{"$and":[{"$or":[{"age":1},{"age":2}]},{"$or":[{"active":true}]}]}',
        ({ age, active }) => (age === 1 || age === 2) && active,
      ],
    ]
    for (const [filter, matches] of cases) {
      const expected = stored
        .filter(matches)
        .reverse()
        .map(({ name }) => name)
      const { docs, totalDocs } = await list(mine, { filter, limit: 1000 })
      assert.deepEqual(namesOf(docs), expected, filter)
      assert.equal(totalDocs, expected.length, filter)
      assert.deepEqual(namesOf(await all(mine, { filter })), expected, filter)
    }
  })

  it('sorts as asked, then by _id', async () => {
    const inOrder = (compare: (a: Person, b: Person) => number) => stored.toSorted(compare).map(({ name }) => name)
    const place = (person: Person) => stored.indexOf(person)
    const byAge = inOrder((a, b) => a.age! - b.age! || place(a) - place(b))
    assert.deepEqual(namesOf((await list(mine, { sort: '{"age":1}', limit: 30 })).docs), byAge)
    assert.deepEqual(namesOf((await list(mine, { sort: '{"age":"desc"}', limit: 30 })).docs), byAge.toReversed())
    const byScore = inOrder(
      (a, b) => Number(b.active) - Number(a.active) || Number(b.attributes.score) - Number(a.attributes.score),
    )
    assert.deepEqual(namesOf(await all(mine, { sort: '{"active":-1,"attributes.score":-1}' })), byScore)
    const base = { defaultSort: { age: 1 } as const }
    assert.deepEqual(namesOf((await list(mine, { limit: 30 }, base)).docs), byAge)
  })

  it('sorts by a unique field alone, as its index holds it', async () => {
    const { store, drop, sent } = await recordingStore()
    const mine = scoped(await people(store), newOrganization())
    await mine.insertMany([draft(2), draft(1)])
    const { docs } = await list(mine, { sort: '{"email":1}' })
    assert.deepEqual(namesOf(docs), ['Person 1', 'Person 2'])
    const sorts = sent('aggregate', 'people').flatMap(({ pipeline }) => pipeline as object[])
    assert.deepEqual(
      sorts.find(stage => '$sort' in stage),
      { $sort: { emailKey: 1 } },
    )
    await drop()
  })

  it('projects and populates, in pages and in streams', async () => {
    const friend = stored[3]!
    await mine.updateMany({ age: 6 }, { $set: { friend: friend._id } })
    const populate = { friend: reference(mine, ({ _id, name }) => ({ _id, name })) }
    const query = { filter: '{"age":6}', projection: '{"friend":1,"age":1}', populate: 'friend' }
    const { docs } = await list(mine, query, { populate })
    const shown = { age: 6, friend: { _id: String(friend._id), name: 'Person 3' } }
    assert.equal(docs.length, 4)
    for (const { _id, id, ...rest } of docs) {
      assert.deepEqual(rest, shown)
      assert.equal(_id, id)
    }
    assert.deepEqual(await all(mine, query, { populate }), docs)
    await assert.rejects(list(mine, { populate: 'enemy' }, { populate }), /invalid field -> populate/)
  })

  it('can be bounded, drawn from stages, counted elsewhere, and resolved to other records', async () => {
    const base = { age: 3 }
    assert.equal(
      (await list(mine, { filter: '{"active":true}' }, { base })).totalDocs,
      stored.filter(({ age, active }) => age === 3 && active).length,
    )
    const options = { total: async () => 12345 }
    assert.equal((await list(mine, {}, options)).totalDocs, 12345)
    assert.equal(
      (await list(mine, { filter: '{"age":3}' }, options)).totalDocs,
      stored.filter(({ age }) => age === 3).length,
    )

    const stages = [{ $unwind: '$tags' }, { $project: { tag: '$tags', name: 1 } }]
    const tags = await list(
      mine,
      { filter: '{"tag":"odd"}', limit: 100 },
      { stages, fields: { tag: 'string', name: 'string' } },
    )
    assert.equal(tags.totalDocs, 15)
    assert.deepEqual(tags.docs[0], {
      _id: String(stored[29]!._id),
      id: String(stored[29]!._id),
      tag: 'odd',
      name: 'Person 29',
    })

    const resolve = async (found: Person[]) => found.map(person => ({ ...person, name: person.name.toUpperCase() }))
    assert.deepEqual(namesOf((await list(mine, { limit: 1 }, { resolve })).docs), ['PERSON 29'])
    const present = ({ name }: Person) => ({ only: name })
    assert.deepEqual((await list(mine, { limit: 1 }, { present })).docs, [{ only: 'Person 29' }])
  })

  it('adds fields to the records of a page only, unless its order or filter names them', async () => {
    const { store, drop, sent } = await recordingStore()
    const mine = scoped(await people(store), newOrganization())
    await mine.insertMany([3, 1, 2].map(age => draft(age, { age })))
    const stages = [{ $match: { age: { $lt: 3 } } }, { $addFields: { active: { $gt: ['$age', 1] } } }]
    const stagesOf = async (query: ListQuery) => {
      const { docs } = await list(mine, query, { stages, base: { name: { $gt: '' } } })
      const [read] = sent('aggregate', 'people')
        .filter(({ pipeline }) => JSON.stringify(pipeline).includes('$sort'))
        .slice(-1)
      return [
        docs.map((doc: Shown) => [doc.age, doc.active]),
        (read!.pipeline as object[]).map(stage => Object.keys(stage)[0]),
      ]
    }
    const shown = [
      [2, true],
      [1, false],
    ]
    assert.deepEqual(await stagesOf({ sort: '{"age":-1}' }), [
      shown,
      ['$match', '$match', '$sort', '$limit', '$addFields'],
    ])
    const early = ['$match', '$match', '$addFields', '$sort', '$limit']
    assert.deepEqual(await stagesOf({ sort: '{"active":-1}' }), [shown, early])
    assert.deepEqual(await stagesOf({ filter: '{"active":true}' }), [[[2, true]], early.toSpliced(3, 0, '$match')])
    await drop()
  })

  it('is an empty array where nothing matches', async () => {
    assert.deepEqual(await all(mine, { filter: '{"age":99}' }), [])
    assert.deepEqual((await list(mine, { filter: '{"age":99}' })).docs, [])
  })

  it('can be read record by record, as stored', async () => {
    const names: string[] = []
    const query = { filter: '{"active":true}', sort: '{"age":1}' }
    for await (const batch of listRecords({
      scope: mine,
      fields: personFields,
      query,
      select: { name: 1, emailKey: 1 },
    })) {
      for (const { name, emailKey, email } of batch) {
        assert.deepEqual([typeof emailKey, email], ['string', undefined])
        names.push(name)
      }
    }
    assert.deepEqual(names, namesOf(await all(mine, query)))
    assert.throws(
      () => listRecords({ scope: mine, fields: personFields, query: { sort: '[]' } }),
      /invalid field -> sort/,
    )
  })

  it('names the invalid parameter', async () => {
    for (const parameter of ['filter', 'sort', 'projection', 'populate'] as const) {
      const refused = list(mine, { [parameter]: '{"nothing":1}' })
      await assert.rejects(
        refused,
        error => error instanceof AppError && error.path === parameter && error.status === 400,
      )
    }
  })

  it('runs every pattern that the check lets through', async () => {
    const piece = fc.constantFrom(
      'a',
      '.',
      '*',
      '+',
      '?',
      '(',
      ')',
      '(?:',
      '|',
      '[a-c]',
      '[^a]',
      '{2,5}',
      '{3,}',
      '{100}',
      'é',
      '^',
      '$',
      '\\w',
      '\\.',
      '\\b',
      '-',
      '&',
      '~',
      '#',
      ' ',
      '/',
    )
    const member = fc.constantFrom('a', 'Z', '0', '-', '^', '+', '.', '\\w', '\\d', '\\S', '\\-', '\\\\', '\\]')
    const shortClass = fc.array(member, { minLength: 1, maxLength: 5 }).map(members => `[${members.join('')}]`)
    const one = scoped(model, newOrganization())
    await one.insertOne(draft(0))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 4, arbitrary: piece }, shortClass), { maxLength: 12 }),
        fc.boolean(),
        async (pieces, insensitive) => {
          const regex = { $regex: pieces.join(''), ...(insensitive && { $options: 'i' }) }
          await list(one, { filter: JSON.stringify({ name: regex }) }).catch(error => {
            assert.ok(error instanceof AppError, String(error))
            assert.doesNotMatch(error.message, /cannot run this filter/)
          })
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a deep page', () => {
  it('is read from the nearer end, and is the same', async () => {
    const mine = scoped(model, newOrganization())
    const size = 3456
    for (let from = 0; from < size; from += 1152) {
      await mine.insertMany(
        Array.from({ length: 1152 }, (_, index) => draft(from + index, { age: (from + index) % 10 })),
      )
    }
    const expected = namesOf(await all(mine, {}))
    assert.equal(expected.length, size)
    for (const page of [1, 11, 12, 18, 34, 35, 36]) {
      const { docs, totalDocs } = await list(mine, { page, limit: 100 })
      assert.deepEqual(namesOf(docs), expected.slice((page - 1) * 100, page * 100), `page ${page}`)
      assert.equal(totalDocs, size)
    }
  })

  it('is the same in an order by an array, whose reverse is not its opposite', async () => {
    const mine = scoped(model, newOrganization())
    const [size, limit] = [2400, 100]
    const tags = (number: number) => [`t${(number * 7) % size}`, `t${(number * 11) % size}`]
    await mine.insertMany(Array.from({ length: size }, (_, number) => draft(number, { tags: tags(number) })))
    const sort = JSON.stringify({ tags: 1 })
    const pages: unknown[] = []
    for (let page = 1; page <= size / limit; page++)
      pages.push(...namesOf((await list(mine, { page, limit, sort })).docs))
    assert.deepEqual(pages, namesOf(await all(mine, { sort })))
  })
})

describe('positions', () => {
  const blocks = fc.array(fc.integer({ min: 0, max: BLOCK }), { minLength: 1, maxLength: 5 })

  it('say where any page is', () => {
    const gaps = fc.tuple(blocks, fc.integer({ min: 1, max: BLOCK }), fc.nat(), fc.integer({ min: 1, max: 1500 }))
    fc.assert(
      fc.property(gaps, ([lost, lastCount, from, limit]) => {
        const present: number[] = []
        const holes = new Map<number, number>()
        lost.forEach((count, block) => {
          const size = block === lost.length - 1 ? lastCount : BLOCK
          const gone = Math.min(count, size)
          if (gone > 0) holes.set(block, gone)
          // The map does not show which ones are missing: any will do.
          for (let index = gone; index < size; index++) present.push(block * BLOCK + 1 + ((index * 7) % size || 0))
        })
        const positionsThere = [...new Set(present)].sort((a, b) => b - a)
        fc.pre(positionsThere.length === present.length)
        const map = { last: (lost.length - 1) * BLOCK + lastCount, holes }
        const skip = present.length === 0 ? 0 : from % (present.length + 3)
        const wanted = Math.min(limit, present.length - skip)
        const range = rangeOf(blocksOf(map), skip, wanted)
        const expected = positionsThere.slice(skip, skip + limit)
        if (!range) return assert.deepEqual(expected, [])
        const within = positionsThere.filter(position => position >= range.low && position <= range.high)
        assert.deepEqual(within.slice(range.skip, range.skip + wanted), expected)
        assert.ok(range.skip < BLOCK && range.high - range.low <= limit + 2 * BLOCK + BLOCK * holes.size)
      }),
      { numRuns: 500 },
    )
  })

  it('keep what filters match by reads that no failover rolls back', async () => {
    const { store, drop, sent } = await recordingStore()
    const organization = newOrganization()
    const mine = scoped(await people(store), organization)
    const register = positions(store, organization, 'people')
    await list(mine, { filter: '{"name":"nobody"}' }, { positions: register, matches: createMatchMemory() })
    const reads = [
      ...sent('find', 'positions'),
      ...sent('find', 'counters'),
      ...sent('aggregate', 'people').slice(0, 1),
    ]
    assert.deepEqual(
      reads.map(({ readConcern }) => readConcern?.level),
      ['majority', 'majority', 'majority'],
    )
    await drop()
  })

  it('keep every page exact while records come and go', async () => {
    const organization = newOrganization()
    const mine = scoped(model, organization)
    const register = positions(store, organization, 'people')
    const memory = createMatchMemory({ maxEntries: 2 })
    const expected: { id: Types.ObjectId; name: string; position: number }[] = []
    let next = 0

    const add = (count: number) =>
      store.transaction(async tx => {
        const { first, at } = await register.take(tx, count)
        const drafts = Array.from({ length: count }, (_, index) =>
          draft(next + index, { position: first + index, createdAt: at }),
        )
        return mine.insertMany(drafts, { tx })
      })
    const remove = async (ids: Types.ObjectId[]) =>
      store.transaction(async tx => {
        const gone = await mine.find({ _id: { $in: ids } }, { tx, projection: { position: 1 } })
        await mine.deleteMany({ _id: { $in: ids } }, { tx })
        await register.release(
          tx,
          gone.map(({ position }) => position),
        )
      })

    for (let round = 0; round < 3; round++) {
      const made = await add(20 + ((round * 397) % 700))
      next += made.length
      expected.push(...made.map(({ _id, name, position }) => ({ id: _id, name, position })))
      const gone = expected.filter((_, index) => (index * 31 + round) % 9 === 0).slice(0, 60)
      await remove(gone.map(({ id }) => id))
      for (const record of gone) expected.splice(expected.indexOf(record), 1)

      const newest = expected.map(({ name }) => name).reverse()
      for (const [page, limit] of [
        [1, 10],
        [3, 77],
        [2, 1000],
        [Math.ceil(newest.length / 10), 10],
        [Math.ceil(newest.length / 10) + 1, 10],
      ] as const) {
        const window = [(page - 1) * limit, page * limit] as const
        const { docs, totalDocs } = await list(mine, { page, limit }, { positions: register })
        assert.equal(totalDocs, newest.length)
        assert.deepEqual(namesOf(docs), newest.slice(...window), `page ${page} of ${limit}`)
        const oldest = await list(mine, { page, limit, sort: '{"createdAt":1}' }, { positions: register })
        assert.deepEqual(
          namesOf(oldest.docs),
          newest.toReversed().slice(...window),
          `page ${page} of ${limit}, oldest first`,
        )
      }
      assert.deepEqual(namesOf(await all(mine, {}, { positions: register })), newest)
      assert.deepEqual(
        namesOf(await all(mine, { sort: '{"createdAt":1}' }, { positions: register })),
        newest.toReversed(),
      )
      // The order of the positions is that of createdAt, then _id.
      const sorted = await list(mine, { limit: 1000, sort: '{"createdAt":-1}' })
      assert.deepEqual(namesOf(sorted.docs), newest.slice(0, 1000))
      // Also with a filter that matches many or few, from either end, cached or not.
      for (const [pattern, matcher] of [
        ['[0-4]$', /[0-4]$/],
        ['77', /77/],
        ['x', /x/],
      ] as const) {
        const filter = JSON.stringify({ name: { $regex: pattern } })
        const matching = newest.filter(name => matcher.test(name))
        for (const matches of [undefined, memory, memory]) {
          for (const page of [1, Math.ceil(matching.length / 20), Math.ceil(matching.length / 10), 500]) {
            const options = { positions: register, matches }
            const found = await list(mine, { page, limit: 10, filter }, options)
            assert.deepEqual(
              [found.totalDocs, namesOf(found.docs)],
              [matching.length, matching.slice((page - 1) * 10, page * 10)],
            )
            const oldest = await list(mine, { page, limit: 10, filter, sort: '{"createdAt":1}' }, options)
            assert.deepEqual(namesOf(oldest.docs), matching.toReversed().slice((page - 1) * 10, page * 10))
          }
        }
        assert.deepEqual(namesOf(await all(mine, { filter }, { positions: register })), matching)
      }
      const renamed = expected[(round * 101) % expected.length]!
      renamed.name = `Person renamed 77 in ${round}`
      await store.transaction(async tx => {
        await mine.updateOne({ _id: renamed.id }, { $set: { name: renamed.name } }, { tx })
        await register.invalidate(tx, [1])
      })
    }
  })

  it('are dense and in order with many writers at once', async () => {
    const organization = newOrganization()
    const mine = scoped(model, organization)
    const register = positions(store, organization, 'people')
    const add = (number: number) =>
      store.transaction(async tx => {
        const { first, at } = await register.take(tx, 1)
        await mine.insertOne(draft(number, { position: first, createdAt: at }), { tx })
      })
    await Promise.all(Array.from({ length: 24 }, (_, number) => add(number)))
    const found = await mine.find({}, { sort: { position: 1 } })
    assert.deepEqual(
      found.map(({ position }) => position),
      Array.from({ length: 24 }, (_, index) => index + 1),
    )
    const times = found.map(({ createdAt }) => createdAt.getTime())
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => a - b),
    )
  })
})
