import assert from 'node:assert/strict'
import { it } from 'node:test'
import { differences, pairsOf, toggled, withActions } from './matrix.ts'

it('an action is switched on and off, in one order', () => {
  assert.deepEqual(toggled({}, 'tokens', 'delete'), { tokens: ['delete'] })
  assert.deepEqual(toggled({ tokens: ['delete'] }, 'tokens', 'read'), { tokens: ['read', 'delete'] })
  assert.deepEqual(toggled({ tokens: ['read'] }, 'tokens', 'read'), {}, 'a resource without actions is refused')
})

it('a row is switched as a whole', () => {
  assert.deepEqual(withActions({ a: ['read'], b: ['read'] }, 'a', []), { b: ['read'] })
})

it('a change gives and takes', () => {
  const change = differences({ a: ['read', 'update'], b: ['read'] }, { a: ['read', 'delete'], c: ['read'] })
  assert.deepEqual(change, { gained: ['a.delete', 'c.read'], lost: ['a.update', 'b.read'] })
  assert.deepEqual(pairsOf({ b: ['read'], a: ['update'] }), ['a.update', 'b.read'])
})
