import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ERASED, personOf } from './person.ts'

const ids = { organizationId: 'a'.repeat(24), contactId: 'b'.repeat(24) }
const person = personOf({ ...ids, emailKeys: ['ann-b+c@example.com', 'ann@xn--bcher-kva.example'], names: ['Ann B.'] })

describe('a person', () => {
  it('is named by whole addresses, however they are written', () => {
    const named = [
      'ann-b+c@example.com',
      '<ANN-B+C@Example.com>',
      'x,ann-b+c@example.com.',
      'to=ann-b%2Bc%40example.com&',
      '/?q=to%3Dann-b%2Bc%40example.com%26x',
      'Regards\nann-b+c@example.com',
    ]
    for (const text of [...named, 'ann@xn--bcher-kva.example', 'Ann@Bücher.example'])
      assert.equal(person.isNamedIn(text), true, text)
    const others = ['joann-b+c@example.com', 'ann-b+c@example.com.au', 'ann-b+c@example.community', 'b+c@example.com']
    for (const text of [...others, 'x%2Bann-b%2Bc%40example.com', 'Ann B.', ''])
      assert.equal(person.isNamedIn(text), false, text)
  })

  it('is named in values, by any text in them', () => {
    const value = { id: 1, none: null, answers: [{ text: 'Regards\nann-b+c@example.com' }] }
    assert.equal(person.isNamedIn(value), true)
    assert.equal(person.isNamedIn({ 'ann-b+c@example.com': true }), true)
    assert.equal(person.isNamedIn({ ...value, answers: ['Regards\njoann-b+c@example.com'] }), false)
  })

  it('is taken out of values: addresses in texts, and texts that are a name', () => {
    const value = { to: 'Ann <ann-b+c@example.com>', names: ['ann b.', 'Ann Bee'], at: 1, none: null }
    assert.deepEqual(person.without(value), { to: `Ann <${ERASED}>`, names: [ERASED, 'Ann Bee'], at: 1, none: null })
    assert.equal(person.without('?to%3Dann-b%2Bc%40example.com'), `?to%3D${ERASED}`)
  })

  it('without an address is named nowhere', () => {
    const nobody = personOf({ ...ids, emailKeys: [], names: [''] })
    assert.equal(nobody.isNamedIn('ann-b+c@example.com'), false)
    assert.deepEqual(nobody.mayBeNamedIn('to'), { _id: { $in: [] } })
    assert.equal(nobody.without(''), '')
  })
})
