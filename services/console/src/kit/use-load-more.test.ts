import assert from 'node:assert/strict'
import { it } from 'node:test'
import { recordsOf } from './use-load-more.ts'

it('a record that has moved to the next page is shown once, where it was', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(_id => ({ _id })) as [{ _id: string }, { _id: string }, { _id: string }]
  assert.deepEqual(recordsOf([{ docs: [a, b] }, { docs: [b, c] }]), [a, b, c])
  assert.deepEqual(recordsOf([]), [])
})
