import assert from 'node:assert/strict'
import { it } from 'node:test'
import { groupsOf, pairsOf, readDraft, toggled, withActions } from './matrix.ts'

it('an action is switched on and off, in one order', () => {
  assert.deepEqual(toggled({}, 'tokens', 'delete'), { tokens: ['delete'] })
  assert.deepEqual(toggled({ tokens: ['delete'] }, 'tokens', 'read'), { tokens: ['read', 'delete'] })
  assert.deepEqual(toggled({ tokens: ['read'] }, 'tokens', 'read'), {}, 'a resource without actions is refused')
})

it('a row is switched as a whole', () => {
  assert.deepEqual(withActions({ a: ['read'], b: ['read'] }, 'a', []), { b: ['read'] })
})

it('grants are told as sorted pairs', () => {
  assert.deepEqual(pairsOf({ b: ['read'], a: ['update'] }), ['a.update', 'b.read'])
})

it('resources stand beside those they belong to', () => {
  const permission = (resource: string) => ({ resource, actions: ['read'], description: '' })
  const groups = groupsOf(['tokens', 'audience_lists', 'links', 'emails', 'audience', 'unknown'].map(permission))
  assert.deepEqual(
    groups.map(({ name, permissions }) => [name, ...permissions.map(({ resource }) => resource)]),
    [
      ['audience', 'audience_lists', 'audience'],
      ['sending', 'emails'],
      ['content', 'links'],
      ['access', 'tokens'],
      ['other', 'unknown'],
    ],
  )
})

it('a draft is read from the address, and nothing else', () => {
  const draft = { name: 'sync', permissions: { audience: ['read'] } }
  assert.deepEqual(readDraft(draft), draft)
  for (const wrong of [null, 'sync', {}, { ...draft, name: 1 }, { ...draft, permissions: { audience: ['rule'] } }])
    assert.equal(readDraft(wrong), undefined)
})
