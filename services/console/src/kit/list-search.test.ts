import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isFilterUnreadable, isNarrowed, listQueryOf, nextSort, readListSearch, sortOf } from './list-search.ts'

describe('the search parameters of a list', () => {
  it('are read, and ignored where they do not parse', () => {
    const search = { q: 'june', filter: { tags: 'vip' }, sort: '-createdAt', page: 2, size: 50, cols: ['email'] }
    assert.deepEqual(readListSearch(search), search)
    assert.deepEqual(readListSearch({ q: '', filter: '{', sort: 'a b', page: 0, size: 7, cols: 'email' }), {})
    assert.deepEqual(readListSearch({ page: 1, size: 25 }), {})
    assert.deepEqual(readListSearch({ q: 2024 }), { q: '2024' })
  })

  it('are known to have a filter that does not parse', () => {
    for (const filter of ['{', 7, [], null]) assert.equal(isFilterUnreadable({ filter }), true)
    for (const raw of [{}, { filter: {} }, { filter: { tags: 'vip' } }]) assert.equal(isFilterUnreadable(raw), false)
  })

  it('become a query of the API', () => {
    assert.deepEqual(listQueryOf({}, ['email']), { page: 1, limit: 25 })
    assert.deepEqual(listQueryOf({ filter: { tags: 'vip' }, sort: '-name', page: 3, size: 100 }, ['email']), {
      page: 3,
      limit: 100,
      filter: { tags: 'vip' },
      sort: { name: -1 },
    })
  })

  it('search the beginning of fields, taking every character as it is', () => {
    const one = { email: { $regex: '^a\\.b\\+c@', $options: 'i' } }
    assert.deepEqual(listQueryOf({ q: ' a.b+c@ ' }, ['email']).filter, one)
    const both = listQueryOf({ q: 'x', filter: { blocked: true } }, ['email', 'name']).filter
    const named = (field: string) => ({ [field]: { $regex: '^x', $options: 'i' } })
    assert.deepEqual(both, { blocked: true, $and: [{ $or: [named('email'), named('name')] }] })
  })

  it('never search by a pattern that is too long or cut within an escape', () => {
    for (let length = 50; length < 70; length++) {
      const { filter } = listQueryOf({ q: `${'a'.repeat(length)}....` }, ['email']) as {
        filter: { email: { $regex: string } }
      }
      assert.ok(filter.email.$regex.length <= 64)
      assert.doesNotThrow(() => new RegExp(filter.email.$regex))
    }
  })

  it('sort up, down, and as usual again', () => {
    assert.equal(nextSort(undefined, 'name'), 'name')
    assert.equal(nextSort('name', 'name'), '-name')
    assert.equal(nextSort('-name', 'name'), undefined)
    assert.equal(nextSort('-name', 'email'), 'email')
    assert.equal(nextSort('-name', 'name', '-name'), 'name')
    assert.equal(nextSort('-name', 'name', 'name'), undefined)
  })

  it('name an order by one field', () => {
    assert.equal(sortOf({}), undefined)
    assert.equal(sortOf({ name: 1 }), 'name')
    assert.equal(sortOf({ name: 'desc' }), '-name')
    assert.equal(sortOf({ name: 1, email: 1 }), undefined)
  })

  it('narrow the list or not', () => {
    assert.equal(isNarrowed({ page: 2, filter: {} }), false)
    assert.equal(isNarrowed({ q: 'a' }), true)
    assert.equal(isNarrowed({ filter: { tags: 'a' } }), true)
  })
})
