import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemo } from './memo.ts'

test('a memo keeps what is used and never more than its capacity', () => {
  const memo = createMemo<number>(100)
  for (let key = 0; key < 10_000; key++) {
    memo.set(String(key), key)
    assert.equal(memo.get('0'), 0)
    assert.ok(memo.size <= 100)
  }
  assert.equal(memo.get('9999'), 9_999)
  assert.equal(memo.get('5000'), undefined)
})
