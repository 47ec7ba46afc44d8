import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromFilter, newGroup, operatorsOf, type RuleField, rulesOf, toFilter, withOperator } from './rules.ts'

const fields: RuleField[] = [
  { name: 'email', label: 'Email', kind: 'text', isOptional: false },
  { name: 'tags', label: 'Tags', kind: 'tags', isOptional: false },
  { name: 'blocked', label: 'Blocked', kind: 'boolean', isOptional: false },
  { name: 'createdAt', label: 'Created', kind: 'date', isOptional: false },
  { name: 'attributes.score', label: 'Score', kind: 'number', isOptional: true },
  { name: 'lists', label: 'Lists', kind: 'lists', isOptional: false },
]
const shown = (filter: object) => {
  const group = fromFilter(filter as Record<string, unknown>, fields)
  const plain = (entry: unknown): unknown =>
    JSON.parse(JSON.stringify(entry, (key, value) => (key === 'id' ? undefined : value)))
  return group && (plain(group) as { join: string; rules: object[] })
}

describe('the rules of a filter', () => {
  it('say what the chips of the filter bar have made', () => {
    assert.deepEqual(shown({ tags: 'vip', blocked: false, createdAt: { $gte: 'now-30d' } }), {
      join: 'and',
      rules: [
        { field: 'tags', operator: 'hasAny', value: ['vip'] },
        { field: 'blocked', operator: 'isTrue', value: false },
        { field: 'createdAt', operator: 'inLast', value: { count: 30, unit: 'd' } },
      ],
    })
    assert.deepEqual(shown({}), { join: 'and', rules: [] })
  })

  it('take several operators on a field apart, and keep those together that are one', () => {
    assert.deepEqual(shown({ 'attributes.score': { $gte: 1, $lt: 9 } })?.rules, [
      { field: 'attributes.score', operator: 'atLeast', value: 1 },
      { field: 'attributes.score', operator: 'under', value: 9 },
    ])
    assert.deepEqual(shown({ createdAt: { $gte: 'now', $lte: 'now+2w' } })?.rules, [
      { field: 'createdAt', operator: 'inNext', value: { count: 2, unit: 'w' } },
    ])
    assert.deepEqual(shown({ 'attributes.score': null, lists: { $exists: false } })?.rules, [
      { field: 'attributes.score', operator: 'isMissing' },
      { field: 'lists', operator: 'onNothing' },
    ])
  })

  it('are not made of what they cannot say', () => {
    const unknown = [
      { $nor: [{ tags: 'vip' }] },
      { secret: 1 },
      { tags: { $size: 2 } },
      { email: { $regex: 'a.c', $options: 'i' } },
      { email: { $regex: 'abc' } },
      { blocked: { $ne: true } },
      {
        $and: [
          { $or: [{ $and: [{ $or: [{ tags: 'a' }, { tags: 'b' }] }, { tags: 'c' }] }, { tags: 'd' }] },
          { tags: 'e' },
        ],
      },
    ]
    for (const filter of unknown) assert.equal(shown(filter), undefined, JSON.stringify(filter))
  })

  it('leave out what is not complete', () => {
    const [email, tags] = fields as [RuleField, RuleField]
    const rule = { id: 1, field: email.name, operator: 'is', value: '' } as const
    const none = { id: 2, field: tags.name, operator: 'hasAny', value: [] } as const
    assert.deepEqual(toFilter(newGroup([rule, none, newGroup([none], 'or')])), {})
    assert.deepEqual(toFilter(newGroup([{ ...rule, value: 'a' }, none])), { email: 'a' })
    assert.equal(rulesOf(newGroup([rule, newGroup([none])])).length, 2)
  })

  it('take numbers as they are typed', () => {
    const filterOf = (value: string | number) =>
      toFilter(newGroup([{ id: 1, field: 'attributes.score', operator: 'over', value }]))
    for (const value of ['', '-', '.', '-.']) assert.deepEqual(filterOf(value), {}, value)
    for (const [value, number] of Object.entries({ '19.': 19, '.5': 0.5, '-0.50': -0.5 }))
      assert.deepEqual(filterOf(value), { 'attributes.score': { $gt: number } })
    assert.deepEqual(filterOf(0), { 'attributes.score': { $gt: 0 } })
  })

  it('keep their value where the operator takes the same kind', () => {
    const rule = { id: 1, field: 'email', operator: 'is', value: 'a' } as const
    assert.equal(withOperator(rule, 'contains').value, 'a')
    assert.equal(withOperator(rule, 'isSet').value, undefined)
    assert.ok(operatorsOf({ kind: 'text', isOptional: true }).includes('isMissing'))
    assert.ok(!operatorsOf({ kind: 'text', isOptional: false }).includes('isMissing'))
  })
})
