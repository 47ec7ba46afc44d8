import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import fc from 'fast-check'
import { Types } from 'mongoose'
import type { FieldTable } from './fields.ts'
import { parseFilter } from './filter.ts'
import { afterPrefix } from './pattern.ts'
import { renest } from './renest.ts'

const ID = '64b000000000000000000001'
const fields: FieldTable = {
  email: { type: 'string', key: { path: 'emailKey', of: text => text.toLowerCase() } },
  name: 'string',
  label: { type: 'string', path: 'stored.label' },
  age: 'number',
  active: 'boolean',
  seenAt: 'date',
  friend: 'objectId',
  tags: 'string[]',
  groups: { type: 'objectId[]', isHiddenSet: true },
  link: { type: 'string', isComputed: true },
  'owner.name': 'string',
  'owner.profile.city': 'string',
  'owner.profile.age': 'number',
  attributes: 'object',
  'attributes.*': 'scalar',
}

const parse = (filter: unknown) => parseFilter(JSON.stringify(filter), fields)

function refused(filter: unknown, reason?: RegExp): void {
  const text = typeof filter === 'string' ? filter : JSON.stringify(filter)
  assert.throws(
    () => parseFilter(text, fields),
    (error: unknown) => {
      assert.ok(error instanceof AppError, `threw ${error}`)
      assert.equal(error.code, 'request.invalid_field')
      assert.equal(error.path, 'filter')
      assert.match(error.message, /^invalid field -> filter: /)
      if (reason) assert.match(error.message, reason)
      return true
    },
    `accepted ${text.slice(0, 200)}`,
  )
}

it('$all compares with null as an equality does, on every server', () => {
  assert.deepEqual(parse({ tags: { $all: ['a', 'b'] } }), { tags: { $all: ['a', 'b'] } })
  assert.deepEqual(parse({ tags: { $all: [] } }), { tags: { $all: [] } })
  assert.deepEqual(parse({ age: { $all: [null] } }), { age: null })
  assert.deepEqual(parse({ tags: { $all: ['a', null] } }), { tags: null, $and: [{ tags: { $all: ['a'] } }] })
})

describe('nesting a filter by one level', () => {
  const nested = (filter: Record<string, unknown>) => Object.fromEntries(renest(filter))

  it('follows the examples of the contract', () => {
    assert.deepEqual(nested({ a: { $gte: 1, $lt: 9 } }), { a: { $gte: 1, $lt: 9 } })
    assert.deepEqual(nested({ a: { b: { c: 1 } } }), { 'a.b': { c: 1 } })
    assert.deepEqual(nested({ a: { b: { $gte: 1 } } }), { 'a.b': { $gte: 1 } })
    assert.deepEqual(nested({ 'a.b.c': 1 }), { 'a.b.c': 1 })
    assert.deepEqual(nested({ a: { b: 1, c: 2 } }), { a: { b: 1, c: 2 } })
    assert.deepEqual(nested({ a: { b: { $gte: 1 } }, 'a.b': { $lt: 9 } }), { 'a.b': { $gte: 1, $lt: 9 } })
    assert.deepEqual(nested({ a: [], b: null, c: {}, d: { e: [] } }), { a: [], b: null, c: {}, d: { e: [] } })
    assert.deepEqual(nested({ 'a.b': { c: { d: 1 } } }), { 'a.b.c': { d: 1 } })
  })

  it('agrees with a plain reading of the rule', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'a.b', 'b.c', '$gte', '$in', '__proto__', 'constructor', '')
    const leaf = fc.oneof(
      fc.integer(),
      fc.string(),
      fc.constant(null),
      fc.boolean(),
      fc.array(fc.integer(), { maxLength: 2 }),
      fc.constant({}),
    )
    const { node } = fc.letrec<{ node: Record<string, unknown>; value: unknown }>(tie => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, tie('node')),
      node: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(entries => Object.fromEntries(entries)),
    }))
    fc.assert(
      fc.property(node, filter => {
        const expected = reference(filter)
        if (expected === 'twice') assert.throws(() => renest(filter), /given twice/)
        else assert.deepEqual([...renest(filter)].sort(byKey).map(plain), [...expected].sort(byKey).map(plain))
      }),
      { numRuns: 5000 },
    )
    assert.equal(({} as Record<string, unknown>).polluted, undefined)
  })

  const byKey = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : a > b ? 1 : 0)
  const plain = ([key, value]: [string, unknown]) => [key, JSON.stringify(value)]

  /** The rule as it is written: all paths to leaves first, then each one put in its place. */
  function reference(filter: Record<string, unknown>): Map<string, unknown> | 'twice' {
    const paths: [string[], unknown][] = []
    const collect = (value: unknown, path: string[]) => {
      const isInner =
        typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      if (!isInner) return void paths.push([path, value])
      for (const key of Object.keys(value as object)) collect((value as Record<string, unknown>)[key], [...path, key])
    }
    for (const key of Object.keys(filter)) collect(filter[key], [key])

    const groups = new Map<string, [string, unknown][]>()
    const singles = new Map<string, unknown>()
    for (const [path, value] of paths) {
      if (path.length === 1) singles.set(path[0]!, value)
      else {
        const prefix = path.slice(0, -1).join('.')
        groups.set(prefix, [...(groups.get(prefix) ?? []), [path.at(-1)!, value]])
      }
    }
    const result = new Map(singles)
    for (const [prefix, members] of groups) {
      if (singles.has(prefix)) return 'twice'
      if (new Set(members.map(([key]) => key)).size < members.length) return 'twice'
      result.set(prefix, Object.fromEntries(members))
    }
    return result
  }
})

describe('a filter', () => {
  it('may be absent', () => {
    assert.deepEqual(parseFilter(undefined, fields), {})
    assert.deepEqual(parseFilter('', fields), {})
    assert.deepEqual(parse({}), {})
  })

  it('takes every operator of the list', () => {
    assert.deepEqual(parse({ age: { $eq: 1 } }), { age: 1 })
    for (const operator of ['$ne', '$gt', '$gte', '$lt', '$lte']) {
      assert.deepEqual(parse({ age: { [operator]: 1 } }), { age: { [operator]: 1 } })
    }
    for (const operator of ['$in', '$nin', '$all']) {
      assert.deepEqual(parse({ tags: { [operator]: ['a', 'b'] } }), { tags: { [operator]: ['a', 'b'] } })
    }
    assert.deepEqual(parse({ name: { $exists: true } }), { name: { $exists: true } })
    assert.deepEqual(parse({ tags: { $size: 2 } }), { tags: { $size: 2 } })
    assert.deepEqual(parse({ name: { $regex: 'a.c', $options: 'i' } }), { name: { $regex: 'a.c', $options: 'i' } })
    assert.deepEqual(parse({ $and: [{ age: 1 }], $or: [{ name: 'a' }, { name: 'b' }], $nor: [{ active: true }] }), {
      $and: [{ age: 1 }],
      $or: [{ name: 'a' }, { name: 'b' }],
      $nor: [{ active: true }],
    })
  })

  it('walks the elements of $and, $or and $nor by the same steps', () => {
    assert.deepEqual(parse({ $or: [{ owner: { profile: { age: { $gte: 1 } } } }, { 'owner.profile.city': 'x' }] }), {
      $or: [{ 'owner.profile.age': { $gte: 1 } }, { 'owner.profile.city': 'x' }],
    })
    assert.deepEqual(parse({ $and: [{ $or: [{ age: '3' }] }] }), { $and: [{ $or: [{ age: 3 }] }] })
  })

  it('takes a deep object as the exact sub-object', () => {
    assert.deepEqual(parse({ owner: { profile: { city: 'x', age: '4' } } }), { 'owner.profile': { city: 'x', age: 4 } })
    assert.deepEqual(parse({ owner: { name: 'x' } }), { owner: { name: 'x' } })
    assert.deepEqual(parse({ attributes: {} }), { attributes: {} })
  })

  it('casts values by the type of the field', () => {
    assert.deepEqual(parse({ age: '42' }), { age: 42 })
    assert.deepEqual(parse({ name: 42 }), { name: '42' })
    assert.deepEqual(parse({ active: 'true' }), { active: true })
    assert.deepEqual(parse({ friend: ID }), { friend: new Types.ObjectId(ID) })
    assert.deepEqual(parse({ seenAt: { $gte: '2026-01-02' } }), { seenAt: { $gte: new Date('2026-01-02') } })
    assert.deepEqual(parse({ seenAt: '2026-01-02T03:04:05.006Z' }), { seenAt: new Date('2026-01-02T03:04:05.006Z') })
    assert.deepEqual(parse({ createdAt: { $lt: 1000 } }), { createdAt: { $lt: new Date(1000) } })
    assert.deepEqual(parse({ age: { $in: ['1', null] } }), { age: { $in: [1, null] } })
    assert.deepEqual(parse({ tags: 'a' }), { tags: 'a' })
    assert.deepEqual(parse({ tags: ['a', 'b'] }), { tags: ['a', 'b'] })
    assert.deepEqual(parse({ label: 'x' }), { 'stored.label': 'x' })
    assert.deepEqual(parse({ attributes: { city: 'x' } }), { attributes: { city: 'x' } })
    assert.deepEqual(parse({ 'attributes.plan': 3 }), { 'attributes.plan': 3 })
  })

  it('resolves dates that are relative to now', () => {
    const now = new Date('2026-06-15T12:00:00.000Z')
    const at = (text: string) => parseFilter(JSON.stringify({ seenAt: text }), fields, now).seenAt
    assert.deepEqual(at('now'), now)
    assert.deepEqual(at('now-30d'), new Date('2026-05-16T12:00:00.000Z'))
    assert.deepEqual(at('now+12h'), new Date('2026-06-16T00:00:00.000Z'))
    assert.deepEqual(at('now-90m'), new Date('2026-06-15T10:30:00.000Z'))
    assert.deepEqual(at('now-2w'), new Date('2026-06-01T12:00:00.000Z'))
    const range = { seenAt: { $gte: 'now-1d', $lt: 'now' }, createdAt: { $in: ['now-1d', '2026-01-01'] }, name: 'now' }
    assert.deepEqual(parseFilter(JSON.stringify(range), fields, now), {
      seenAt: { $gte: new Date('2026-06-14T12:00:00.000Z'), $lt: now },
      createdAt: { $in: [new Date('2026-06-14T12:00:00.000Z'), new Date('2026-01-01T00:00:00.000Z')] },
      name: 'now',
    })
    const before = Date.now()
    const resolved = parse({ seenAt: 'now' }).seenAt as Date
    assert.ok(resolved.getTime() >= before && resolved.getTime() <= Date.now())
  })

  it('finds a hidden set by its items, and takes empty as missing', () => {
    const none = new Types.ObjectId('0'.repeat(24))
    const id = new Types.ObjectId(ID)
    assert.deepEqual(parse({ groups: ID }), { groups: id })
    assert.deepEqual(parse({ groups: { $in: [ID] } }), { groups: { $in: [id] } })
    assert.deepEqual(parse({ groups: { $nin: [ID], $exists: true } }), { groups: { $nin: [id], $gte: none } })
    assert.deepEqual(parse({ groups: { $exists: false } }), { groups: { $not: { $gte: none } } })
  })

  it('knows id as _id, and keeps both conditions where both are given', () => {
    assert.deepEqual(parse({ id: ID }), { _id: new Types.ObjectId(ID) })
    const other = '64b000000000000000000002'
    assert.deepEqual(parse({ id: ID, _id: other }), {
      _id: new Types.ObjectId(ID),
      $and: [{ _id: new Types.ObjectId(other) }],
    })
    assert.deepEqual(parse({ id: { $gt: ID }, _id: { $lt: other } }), {
      _id: { $gt: new Types.ObjectId(ID), $lt: new Types.ObjectId(other) },
    })
  })

  it('compares by the key of a field, and matches patterns against what was written', () => {
    assert.deepEqual(parse({ email: 'A@Example.com' }), { emailKey: 'a@example.com' })
    assert.deepEqual(parse({ email: { $in: ['A@x', 'b@X'], $ne: 'C@x' } }), {
      emailKey: { $in: ['a@x', 'b@x'], $ne: 'c@x' },
    })
    assert.deepEqual(parse({ email: { $regex: 'A.*x', $gte: 'B' } }), {
      email: { $regex: 'A.{0,256}x' },
      emailKey: { $gte: 'b' },
    })
    assert.deepEqual(parse({ email: null }), { emailKey: null })
  })

  it('keeps to its limits', () => {
    const nameOf = (length: number) => JSON.stringify({ name: 'x'.repeat(length - '{"name":""}'.length) })
    assert.ok(parseFilter(nameOf(16 * 1024), fields))
    refused(nameOf(16 * 1024 + 1), /16 KiB/)
    refused({ name: 'é'.repeat(8200) }, /16 KiB/)
    assert.ok(parse({ $or: Array.from({ length: 49 }, () => ({ age: 1 })) }))
    refused({ $or: Array.from({ length: 50 }, () => ({ age: 1 })) }, /50 keys/)
    assert.ok(parse({ age: { $in: Array.from({ length: 500 }, (_, index) => index) } }))
    refused({ age: { $in: Array.from({ length: 501 }, (_, index) => index) } }, /500 items/)
    refused({ tags: Array.from({ length: 501 }, () => 'a') }, /500 items/)
    assert.ok(parse({ $and: [{ $and: [{ $and: [{ age: { $gt: 1 } }] }] }] }))
    refused({ $and: [{ $and: [{ $and: [{ $and: [{ age: { $gt: 1 } }] }] }] }] }, /deeper than 5/)
    assert.ok(parse({ $or: Array.from({ length: 3 }, () => ({ name: { $regex: 'a' } })) }))
    refused({ $or: Array.from({ length: 4 }, () => ({ name: { $regex: 'a' } })) }, /more than 3 \$regex/)
    refused(`{"age":${'['.repeat(5000)}${']'.repeat(5000)}}`, /deeper than 5/)
    refused(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, /deeper than 5/)
  })

  const hostile: [string, unknown, RegExp?][] = [
    ['text that is not JSON', '{', /not JSON/],
    ['an array', '[]', /must be an object/],
    ['null', 'null', /must be an object/],
    ['a number', '1', /must be an object/],
    ['text', '"a"', /must be an object/],
    ['an unknown field', { secret: 1 }, /secret is not a field/],
    ['the tenant', { organization: ID }, /organization is not a field/],
    ['the tenant within $or', { $or: [{ organization: { $ne: null } }] }, /organization is not a field/],
    ['a stored field that is not public', { emailKey: 'a' }, /emailKey is not a field/],
    ['a stored path that is not public', { 'stored.label': 'a' }, /stored.label is not a field/],
    ['a field below one that has none', { name: { first: 'a' } }, /name.first is not a field/],
    ['__proto__', '{"__proto__":{"polluted":1}}', /is not a field/],
    ['__proto__ below a field', '{"attributes":{"__proto__":{"polluted":1}}}', /is not a field/],
    ['__proto__ as an attribute', '{"attributes.__proto__":1}', /is not a field/],
    ['constructor', { constructor: 1 }, /is not a field/],
    ['toString', { toString: 1 }, /is not a field/],
    ['hasOwnProperty as an operator', { name: { $hasOwnProperty: 1 } }, /\$hasOwnProperty/],
    ['$where', { $where: 'sleep(1000)' }, /\$where/],
    ['$expr', { $expr: { $gt: ['$a', 1] } }, /\$expr/],
    ['$function', { name: { $function: {} } }, /\$function/],
    ['$text', { $text: { $search: 'a' } }],
    ['$comment', { $comment: 'a' }, /\$comment/],
    ['$jsonSchema', { $jsonSchema: {} }],
    ['$not', { name: { $not: { $eq: 'a' } } }],
    ['$elemMatch', { tags: { $elemMatch: { $eq: 'a' } } }],
    ['$mod', { age: { $mod: [2, 0] } }, /\$mod/],
    ['$type', { age: { $type: 'number' } }, /\$type/],
    ['an operator that does not exist', { age: { $between: [1, 2] } }, /\$between/],
    ['an operator at the top', { $gte: 1 }, /\$gte is not an operator here/],
    ['a logical operator below a field', { age: { $or: [{ $gt: 1 }] } }, /\$or/],
    ['a logical operator without an array', { $or: { age: 1 } }],
    ['an empty $or', { $or: [] }, /\$or takes an array of filters/],
    ['$or of scalars', { $or: [1] }, /\$or takes an array of filters/],
    ['$and of arrays', { $and: [[{ age: 1 }]] }, /\$and takes an array of filters/],
    ['operators beside fields', { owner: { name: 'a', $exists: true } }],
    ['operators within an exact object', { attributes: { a: [{ $gt: 1 }] } }],
    ['an object in an array of operators', { age: { $in: [{ $gt: 1 }] } }],
    ['an invalid number', { age: 'many' }, /age must be a number/],
    ['an empty number', { age: '' }, /age must be a number/],
    ['an invalid boolean', { active: 'yes' }, /active must be true or false/],
    ['an invalid date', { seenAt: 'yesterday' }, /seenAt must be an ISO 8601 date/],
    ['a date that cannot be', { seenAt: '2026-13-45' }, /seenAt must be an ISO 8601 date/],
    ['a date on no calendar', { seenAt: '2024-02-31' }, /seenAt must be an ISO 8601 date/],
    ['a relative date without a sign', { seenAt: 'now30d' }, /seenAt must be/],
    ['a relative date of an unknown unit', { seenAt: 'now-1y' }, /seenAt must be/],
    ['a relative date too far away', { seenAt: 'now-1000000d' }, /seenAt must be/],
    ['a relative date for a number', { age: 'now' }, /age must be a number/],
    ['what is made when the record is shown', { link: 'x' }, /link/],
    ['null for a hidden set', { groups: null }, /groups cannot be null/],
    ['a whole hidden set', { groups: [ID] }, /groups is not an array/],
    ['the size of a hidden set', { groups: { $size: 0 } }, /\$size of groups/],
    ['an invalid id', { friend: 'abc' }, /friend must be an id/],
    ['an invalid _id', { _id: 'abc' }, /_id must be an id/],
    ['an object for text', { name: {} }, /name must be text/],
    ['an array for text', { name: ['a'] }, /name is not an array/],
    ['$in without an array', { age: { $in: 1 } }, /\$in of age takes an array/],
    ['$gt of null', { age: { $gt: null } }, /\$gt of age takes a single value/],
    ['$gt of an array', { tags: { $gt: ['a'] } }, /\$gt of tags takes a single value/],
    ['$exists of a number', { age: { $exists: 1 } }, /\$exists of age/],
    ['$size of a field that is no array', { name: { $size: 1 } }, /\$size of name/],
    ['$size that is negative', { tags: { $size: -1 } }, /\$size of tags/],
    ['$size that is a fraction', { tags: { $size: 1.5 } }, /\$size of tags/],
    ['$regex of a number', { age: { $regex: '1' } }, /\$regex of age/],
    ['$regex that is no text', { name: { $regex: 1 } }, /\$regex of name/],
    ['$options alone', { name: { $options: 'i' } }, /needs \$regex/],
    ['other $options', { name: { $regex: 'a', $options: 'x' } }, /\$options of name/],
    ['one place twice', { owner: { profile: { city: 'x' } }, 'owner.profile': { city: 'y' } }, /given twice/],
  ]
  for (const [what, filter, reason] of hostile) {
    it(`refuses ${what}`, () => refused(filter, reason))
  }

  it('refuses or understands anything, and changes no prototype', () => {
    const text = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc.string(),
      fc
        .dictionary(
          fc.constantFrom('name', 'age', 'tags', '$or', '$and', '__proto__', 'constructor', 'email'),
          fc.jsonValue({ maxDepth: 3 }),
        )
        .map(value => JSON.stringify(value)),
    )
    fc.assert(
      fc.property(text, filter => {
        try {
          parseFilter(filter, fields)
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === 'request.invalid_field', String(error))
        }
      }),
      { numRuns: 5000 },
    )
    assert.deepEqual(Object.keys(Object.prototype), [])
  })
})

describe('a $regex', () => {
  const pattern = (text: string) => parse({ name: { $regex: text } })

  it('may be any common pattern', () => {
    const fine = [
      '',
      'abc',
      '^abc$',
      'a.*b',
      'a|b|c',
      '(abc)+',
      '(?:ab)?c',
      '[a-z0-9_.-]+@',
      '[^@]+',
      String.raw`\d{3,5}`,
    ]
    for (const text of [
      ...fine,
      String.raw`\bword\b`,
      String.raw`a\.b\(c\)`,
      'a{2}',
      'a+?',
      '日本',
      '[+*?]',
      'a{3,}',
      '(a(b)c)',
    ]) {
      const { name } = pattern(text) as { name: { $regex: string } }
      for (const subject of ['abc', 'aaab', 'x@y.z', 'a.b(c)', '12345', 'a word here', '日本', '']) {
        assert.equal(new RegExp(name.$regex).test(subject), new RegExp(text).test(subject), `${text} on ${subject}`)
      }
    }
  })

  it('means the ASCII letters, digits and spaces everywhere', () => {
    const read = (text: string) => (pattern(text) as { name: { $regex: string } }).name.$regex
    assert.equal(read(String.raw`^\w+\d\s$`), String.raw`^[A-Za-z0-9_]+[0-9][ \t\n\r\f\v]$`)
    assert.equal(read(String.raw`\W\D`), '[^A-Za-z0-9_][^0-9]')
    assert.equal(read(String.raw`[\w.-]{2}@[^\d]`), '[A-Za-z0-9_.-]{2}@[^0-9]')
    assert.equal(read(String.raw`[\s\S]`), String.raw`[ \t\n\r\f\v\S]`)
    assert.equal(read(String.raw`[\w-.]{2}@[^a-\d]`), String.raw`[A-Za-z0-9_\-.]{2}@[^a\-0-9]`)
    assert.equal(read(String.raw`[\w-Z]`), String.raw`[A-Za-z0-9_\-Z]`)
    assert.equal(read(String.raw`[\\d-z\d-\W-\]]`), String.raw`[\\d-z0-9\-\W\-\]]`, 'no more than what is next to one')
    assert.equal(read(String.raw`a\.b\\w`), String.raw`a\.b\\w`)
  })

  it('is a range where it looks for a beginning, and looks at the key where case does not matter', () => {
    assert.deepEqual(pattern('^Ab'), { name: { $gte: 'Ab', $lt: 'Ac' } })
    assert.deepEqual(pattern(String.raw`^a\.b`), { name: { $gte: 'a.b', $lt: 'a.c' } })
    assert.deepEqual(parse({ name: { $regex: '^Ab', $options: 'i' } }), { name: { $regex: '^Ab', $options: 'i' } })
    assert.deepEqual(parse({ tags: { $regex: '^Ab' } }), { tags: { $regex: '^Ab' } })
    assert.deepEqual(parse({ email: { $regex: '^A@', $options: 'i' } }), { emailKey: { $gte: 'a@', $lt: 'aA' } })
    assert.deepEqual(parse({ email: { $regex: String.raw`@X\.y`, $options: 'i' } }), {
      emailKey: { $regex: String.raw`@x\.y` },
    })
    assert.deepEqual(parse({ email: { $regex: '^A.b', $options: 'i' } }), { email: { $regex: '^A.b', $options: 'i' } })
    assert.deepEqual(parse({ email: { $regex: '^A' } }), { email: { $gte: 'A', $lt: 'B' } })
    assert.deepEqual(parse({ name: { $regex: '^b', $gte: 'bc' } }), {
      name: { $gte: 'b', $lt: 'c' },
      $and: [{ name: { $gte: 'bc' } }],
    })
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', 'b', '\ud7ff', '\ue000', '\u{10ffff}', '\u{10fffe}'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(text, text, fc.boolean(), (prefix, other, begins) => {
        const candidate = begins ? prefix + other : other
        const end = afterPrefix(prefix)
        const isWithin = order(prefix, candidate) <= 0 && (end === undefined || order(candidate, end) < 0)
        assert.equal(isWithin, candidate.startsWith(prefix))
      }),
      { numRuns: 3000 },
    )
  })

  /** As the database orders texts. */
  const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

  it('is freed of what its ends only say', () => {
    for (const text of ['.*a.*b.*', 'a.*b', '.*?.*a.*b.*?']) {
      assert.deepEqual(pattern(text), { name: { $regex: 'a.{0,256}b' } })
    }
    assert.deepEqual(pattern(String.raw`\w+@x{2,}`), { name: { $regex: '[A-Za-z0-9_]@x{2}' } })
    assert.deepEqual(pattern('^ab+'), pattern('^ab'))
    assert.deepEqual(pattern('.*text.*'), pattern('text'))
    assert.deepEqual(pattern('.*'), pattern(''))
  })

  it('limits open-ended quantifiers to 256 characters, except the first of an anchored pattern', () => {
    const written = (text: string) => (pattern(text) as { name: { $regex: string } }).name.$regex
    assert.equal(written('a.*?b'), 'a.{0,256}?b')
    assert.equal(written('(ab)+c'), '(ab){1,256}c')
    assert.equal(written('a[0-9]{3,}b'), 'a[0-9]{3,256}b')
    assert.equal(written('^a.*b.+c'), '^a.*b.{1,256}c')
    assert.equal(written('^(a.*|b.*)c|d+e'), '^(a.*|b.{0,256})c|d{1,256}e')
  })

  it('is refused where it could take long, or means different things to different servers', () => {
    const nested = ['(a+)+', '(a*)*b', '((a+)b)+', '(a|aa)+', '(a|b)*', '(?:a{2,})+', '(x?y{2}){3}', '([a-z]+)*$']
    const endless = ['a.*.*.*b', 'xa*b*c*d', 'xa+b+c{1,}y', 'a.*b.*c', '^a.*b.*c.*d', 'a|b.*c.*d']
    const ways = [
      `${'a?'.repeat(18)}${'a'.repeat(18)}b`,
      'a{0,9}b{0,9}c',
      '(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)',
      'x(a|b)(a|b)(a|b).*y',
    ]
    const foreign = [
      '(?=a)',
      '(?!a)',
      '(?<=a)',
      '(?<n>a)',
      '(?i)a',
      String.raw`(a)\1`,
      String.raw`\u0061`,
      String.raw`\x61`,
    ]
    const broken = [
      '(',
      ')',
      '[',
      'a)',
      '(a',
      '*',
      'a**',
      'a++',
      '[z-a]',
      'a{5,2}',
      'a{21}',
      'a{11}b{10}',
      'a{',
      '{1}',
      '\\',
      '[]',
      '[^]',
      '[a&&b]',
      '^*',
    ]
    const others = [String.raw`\p{L}`, String.raw`\k<n>`, String.raw`\Qa\E`, String.raw`\G`, 'a'.repeat(65)]
    for (const text of [...nested, ...endless, ...ways, ...foreign, ...broken, ...others]) {
      assert.throws(() => pattern(text), AppError, `accepted ${text}`)
    }
  })
})
