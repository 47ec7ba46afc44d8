import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileDataCheck } from './data-check.ts'
import { loadRoot } from './root.ts'

const root = loadRoot()
const message = root.lookupType('rollcall.events.v1.ListUpdated')
const strict = compileDataCheck(message, false)
const open = compileDataCheck(message, true)

const actor = { kind: 'user', id: null, name: '' }
const list = {
  _id: '1',
  id: '1',
  name: 'a\nb',
  description: 'd'.repeat(20_000),
  tags: [],
  archived: false,
  memberCount: 0,
  activeCount: 0,
  createdBy: actor,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}
const data = { list, changed: ['name'], actor }

describe('the check of data', () => {
  it('takes what is declared, whatever its length', () => {
    assert.equal(strict(data), undefined)
    assert.equal(strict({ ...data, changed: Array.from({ length: 20_000 }, () => '') }), undefined)
  })

  it('says what is missing or of another type, and where', () => {
    const faults: [change: object, fault: RegExp][] = [
      [{ changed: undefined }, /^invalid field -> changed: must be an array$/],
      [{ changed: [1] }, /^invalid field -> changed.0: must be a string$/],
      [{ list: 'text' }, /^invalid field -> list: must be an object$/],
      [{ list: { ...list, createdAt: 'today' } }, /^invalid field -> list.createdAt: must be an ISO 8601 date$/],
      [{ list: { ...list, memberCount: 1.5 } }, /^invalid field -> list.memberCount: must be an integer$/],
      [{ list: { name: 'a' } }, /^missing field -> list._id$/],
      [{ actor: { ...actor, kind: 'nobody' } }, /^invalid field -> actor.kind: must be one of/],
      [{ actor: { kind: 'user', name: '' } }, /^missing field -> actor.id$/],
    ]
    for (const [change, fault] of faults)
      for (const check of [strict, open]) assert.match(check({ ...data, ...change })!, fault)
    assert.match(strict([])!, /^invalid field: must be an object$/)
    assert.match(strict({ list, actor })!, /^missing field -> changed$/)
  })

  it('lets a record lack what older versions did not store', () => {
    assert.equal(strict({ ...data, list: { _id: '1', id: '1' } }), undefined)
  })

  it('refuses what is not declared, unless a later version may have sent it', () => {
    const more = { ...data, more: 1, list: { ...list, colour: 'red' } }
    assert.equal(strict(more), 'extra field -> list.colour')
    assert.equal(open(more), undefined)
  })
})
