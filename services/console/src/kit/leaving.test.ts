import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { takesAway } from './leaving.ts'

const at = (pathname: string, search: object = {}) => ({ pathname, search })

describe('a navigation away from a form', () => {
  it('takes it away with its page, its tab, or the dialog that the address has opened', () => {
    assert.ok(takesAway(at('/templates/1'), at('/contacts')))
    assert.ok(takesAway(at('/users/1'), at('/users/1', { tab: 'sessions' })))
    assert.ok(takesAway(at('/collections/1', { tab: 'form' }), at('/collections/1')))
    assert.ok(takesAway(at('/contacts', { new: true }), at('/contacts')))
    assert.ok(takesAway(at('/collections/1', { show: 'a' }), at('/collections/1', { show: 'b' })))
  })

  it('leaves it where only the list changes or a dialog opens', () => {
    assert.ok(!takesAway(at('/contacts', { page: 2 }), at('/contacts', { q: 'ada' })))
    assert.ok(!takesAway(at('/collections/1', { tab: 'form' }), at('/collections/1', { tab: 'form', new: true })))
    assert.ok(!takesAway(at('/webhooks/1'), at('/webhooks/1', { show: 'a' })))
  })
})
