import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { EmailIndex, recordEmail } from './email-index.ts'

describe('the email index', () => {
  it('answers the row before, however the email is written', () => {
    const emails = new EmailIndex()
    const record = (cell: string, row: number) => recordEmail(emails, { row, line: row, cells: [cell], error: null }, 0)
    assert.deepEqual([record('a@x.org', 1), record(' A@X.org ', 5), record('a@x.org', 9)], [0, 1, 5])
    assert.deepEqual([record('a@bücher.example', 10), record('A@xn--bcher-kva.example', 11)], [0, 10])
    assert.deepEqual([record('"a b"@x.org', 12), record('"a b"@x.org', 13)], [0, 0])
  })

  it('agrees with a map, also while it grows', () => {
    const emails = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 400 })
    fc.assert(
      fc.property(emails, list => {
        const index = new EmailIndex()
        const map = new Map<string, number>()
        for (const [at, email] of list.entries()) {
          assert.equal(index.record(email, at + 1), map.get(email) ?? 0)
          map.set(email, at + 1)
        }
      }),
    )
  })

  it('distinguishes two hundred thousand emails', () => {
    const index = new EmailIndex()
    for (let row = 1; row <= 200_000; row++) assert.equal(index.record(`user${row}@example.org`, row), 0)
    assert.equal(index.record('user77@example.org', 1), 77)
  })
})
