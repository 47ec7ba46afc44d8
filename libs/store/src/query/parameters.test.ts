import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import fc from 'fast-check'
import type { FieldTable } from './fields.ts'
import { parsePopulate } from './populate.ts'
import { presenter } from './present.ts'
import { parseProjection } from './projection.ts'
import { isReversible, parseSort, withTieBreak } from './sort.ts'

const fields: FieldTable = {
  email: { type: 'string', key: { path: 'emailKey', of: text => text.toLowerCase() } },
  name: 'string',
  tags: 'string[]',
  sharedWith: 'objectId[]',
  attributes: 'object',
  'attributes.*': 'scalar',
  records: 'object[]',
  'records.value': 'string',
  label: { type: 'string', path: 'storedLabel' },
  link: { type: 'string', isComputed: true },
}

const refusedAs = (path: string) => (error: unknown) => {
  assert.ok(error instanceof AppError, String(error))
  assert.equal(error.code, 'request.invalid_field')
  assert.equal(error.path, path)
  return true
}

describe('sort', () => {
  const parse = (sort: unknown) => parseSort(JSON.stringify(sort), fields)

  it('takes every spelling of a direction, in the order written', () => {
    assert.deepEqual(parse({ name: 1 }), { name: 1 })
    assert.deepEqual(parse({ name: '1', createdAt: -1, label: '-1', 'attributes.city': 'asc', updatedAt: 'desc' }), {
      name: 1,
      createdAt: -1,
      storedLabel: -1,
      'attributes.city': 1,
      updatedAt: -1,
    })
    assert.deepEqual(Object.keys(parse({ updatedAt: 1, name: 1 })!), ['updatedAt', 'name'])
    assert.equal(parse({}), undefined)
    assert.equal(parseSort(undefined, fields), undefined)
  })

  it('sorts by the key of a field, and by id as _id', () => {
    assert.deepEqual(parse({ email: 1 }), { emailKey: 1 })
    assert.deepEqual(parse({ id: 'desc' }), { _id: -1 })
  })

  it('ends with _id, in the direction before it', () => {
    assert.deepEqual(withTieBreak({ name: 1, createdAt: -1 }), { name: 1, createdAt: -1, _id: -1 })
    assert.deepEqual(withTieBreak({ name: 1 }), { name: 1, _id: 1 })
    assert.deepEqual(withTieBreak({ _id: 1, name: -1 }), { _id: 1, name: -1 })
    assert.deepEqual(withTieBreak({ name: 1, emailKey: -1, age: 1 }, ['emailKey']), { name: 1, emailKey: -1 })
  })

  it('is reversible unless a field is or passes through an array', () => {
    const isListReversible = (...names: string[]) =>
      isReversible(parse(Object.fromEntries(names.map(name => [name, 1])))!, fields)
    assert.ok(isListReversible('name', 'email', 'label', 'createdAt'))
    for (const name of ['tags', 'records', 'records.value', 'attributes.any'])
      assert.ok(!isListReversible('name', name), name)
  })

  it('refuses all else', () => {
    const wrong = [
      '[]',
      'x',
      '1',
      'null',
      '{"secret":1}',
      '{"organization":1}',
      '{"emailKey":1}',
      '{"__proto__":1}',
      '{"name.x":1}',
      '{"link":1}',
    ]
    const directions = [
      '{"name":0}',
      '{"name":2}',
      '{"name":"up"}',
      '{"name":true}',
      '{"name":null}',
      '{"name":{"$meta":"textScore"}}',
      '{"name":[1]}',
    ]
    const arrays = ['{"tags":1,"sharedWith":1}', '{"name":"constructor"}', '{"constructor":1}']
    for (const text of [...wrong, ...directions, ...arrays]) {
      assert.throws(() => parseSort(text, fields), refusedAs('sort'), `accepted ${text}`)
    }
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`attributes.a${index}`, 1]))
    assert.throws(() => parse(many), refusedAs('sort'))
  })
})

describe('projection', () => {
  const project = (projection: unknown, record: Record<string, unknown>) =>
    parseProjection(JSON.stringify(projection), fields)!(record)

  it('takes what is made when the record is shown', () => {
    assert.deepEqual(project({ link: 1 }, { _id: 'i', name: 'n', link: '/l/n' }), { _id: 'i', link: '/l/n' })
  })

  const record = {
    _id: 'i',
    id: 'i',
    email: 'e',
    name: 'n',
    tags: ['a'],
    attributes: { city: 'x', plan: 'y' },
    records: [
      { value: 1, type: 't' },
      { value: 2, type: 'u' },
    ],
    createdAt: 'c',
  }

  it('keeps or leaves out what is named', () => {
    assert.deepEqual(project({ name: 1 }, record), { _id: 'i', id: 'i', name: 'n' })
    assert.deepEqual(project({ name: true, 'attributes.city': 1 }, record), {
      _id: 'i',
      id: 'i',
      name: 'n',
      attributes: { city: 'x' },
    })
    const { name, tags, ...others } = record
    assert.deepEqual(project({ name: 0, tags: false }, record), others)
    assert.deepEqual(project({ 'attributes.city': 0 }, record).attributes, { plan: 'y' })
    assert.deepEqual(project({ 'records.value': 1 }, record).records, [{ value: 1 }, { value: 2 }])
    assert.deepEqual(project({ 'records.value': 0 }, record).records, [{ type: 't' }, { type: 'u' }])
    assert.deepEqual(project({ label: 1, name: 1 }, record), { _id: 'i', id: 'i', name: 'n' })
  })

  it('finds keys below an object that contain dots, or are named __proto__', () => {
    const table: FieldTable = {
      flags: 'object',
      'flags.a': 'boolean',
      'flags.a.b': 'boolean',
      'flags.__proto__': 'boolean',
    }
    const project = (projection: object, record: Record<string, unknown>) =>
      parseProjection(JSON.stringify(projection), table)!(record)
    const flags = JSON.parse('{"a":true,"a.b":false,"__proto__":true}')
    assert.deepEqual(project({ 'flags.a.b': 1 }, { flags }), { flags: { 'a.b': false } })
    assert.deepEqual(project({ 'flags.a': 1, 'flags.a.b': 1 }, { flags }), { flags: { a: true, 'a.b': false } })
    assert.deepEqual(project({ 'flags.a.b': 0 }, { flags }), { flags: JSON.parse('{"a":true,"__proto__":true}') })
    assert.deepEqual(project({ 'flags.__proto__': 1 }, { flags }), { flags: JSON.parse('{"__proto__":true}') })
  })

  it('keeps the id unless it is left out', () => {
    const { _id, id, ...anonymous } = record
    assert.deepEqual(project({ _id: 0 }, record), anonymous)
    assert.deepEqual(project({ id: 0 }, record), anonymous)
    assert.deepEqual(project({ name: 1, _id: 0 }, record), { name: 'n' })
    assert.deepEqual(project({ name: 1, id: false }, record), { name: 'n' })
    assert.deepEqual(project({ _id: 1 }, record), { _id: 'i', id: 'i' })
    const { name, ...nameless } = record
    assert.deepEqual(project({ name: 0, _id: 1 }, record), nameless)
  })

  it('does not change the record', () => {
    const before = structuredClone(record)
    project({ 'attributes.city': 0, name: 0 }, record)
    assert.deepEqual(record, before)
  })

  it('refuses all else', () => {
    const shapes = [
      '[]',
      'x',
      '1',
      '{"secret":1}',
      '{"organization":0}',
      '{"emailKey":1}',
      '{"__proto__":1}',
      '{"attributes.__proto__":1}',
    ]
    const values = [
      '{"name":2}',
      '{"name":-1}',
      '{"name":"1"}',
      '{"name":null}',
      '{"name":{"$slice":1}}',
      '{"name":"$email"}',
    ]
    const mixtures = [
      '{"name":1,"tags":0}',
      '{"_id":0,"id":1}',
      '{"attributes":1,"attributes.city":1}',
      '{"attributes.city":0,"attributes":0}',
    ]
    for (const text of [...shapes, ...values, ...mixtures]) {
      assert.throws(() => parseProjection(text, fields), refusedAs('projection'), `accepted ${text}`)
    }
    assert.equal(parseProjection('{}', fields), undefined)
    assert.equal(parseProjection(undefined, fields), undefined)
  })

  it('keeps exactly the named top-level fields, or all others', () => {
    const names = fc.uniqueArray(
      fc.constantFrom<string>('email', 'name', 'tags', 'attributes', 'records', 'createdAt'),
      {
        minLength: 1,
      },
    )
    fc.assert(
      fc.property(names, fc.boolean(), (named, keep) => {
        const shown = project(Object.fromEntries(named.map(name => [name, keep])), record)
        const expected = Object.keys(record).filter(
          name => name === '_id' || name === 'id' || named.includes(name) === keep,
        )
        assert.deepEqual(Object.keys(shown).sort(), expected.sort())
      }),
    )
  })
})

describe('populate', () => {
  const people = new Map<string, object>([
    ['1', { _id: '1', name: 'One' }],
    ['2', { _id: '2', name: 'Two' }],
  ])
  const asked: string[][] = []
  const load = async (ids: string[]) => {
    asked.push(ids)
    return new Map([...people].filter(([id]) => ids.includes(id)))
  }

  it('replaces ids by what they refer to, each loaded once', async () => {
    const expand = parsePopulate(' user  sharedWith user ', { user: { load }, sharedWith: { load } })!
    const records = [
      { _id: 'a', user: '1', sharedWith: ['2', '9', '1'] },
      { _id: 'b', user: '1', sharedWith: [] },
      { _id: 'c', user: '9' },
      { _id: 'd', user: null },
    ]
    assert.deepEqual(await expand(records), [
      { _id: 'a', user: people.get('1'), sharedWith: [people.get('2'), people.get('1')] },
      { _id: 'b', user: people.get('1'), sharedWith: [] },
      { _id: 'c', user: null },
      { _id: 'd', user: null },
    ])
    assert.deepEqual(asked, [
      ['1', '9'],
      ['2', '9', '1'],
    ])
    assert.equal(records[0]!.user, '1')
  })

  it('may have another name than its field', async () => {
    const expand = parsePopulate('author', { author: { field: 'createdBy', load } })!
    assert.deepEqual(await expand([{ createdBy: '2' }]), [{ createdBy: people.get('2') }])
  })

  it('is refused for any other name', () => {
    for (const text of ['secret', 'user,other', 'user.role', '__proto__', 'constructor', 'user secret']) {
      assert.throws(() => parsePopulate(text, { user: { load } }), refusedAs('populate'), `accepted ${text}`)
    }
    assert.throws(() => parsePopulate('user'), refusedAs('populate'))
    assert.equal(parsePopulate('', {}), undefined)
    assert.equal(parsePopulate(undefined, {}), undefined)
  })
})

describe('the public record', () => {
  it('has what the table names, and nothing else', () => {
    const stored = {
      _id: 'i',
      organization: 'o',
      email: 'E@x',
      emailKey: 'e@x',
      storedLabel: 'l',
      secret: 's',
      createdAt: 1,
      updatedAt: 2,
      tags: [],
    }
    assert.deepEqual(presenter(fields)(stored), {
      _id: 'i',
      id: 'i',
      email: 'E@x',
      tags: [],
      label: 'l',
      createdAt: 1,
      updatedAt: 2,
    })
  })
})
