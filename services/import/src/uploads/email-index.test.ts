import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { EmailIndex, noteEmail } from './email-index.ts'

describe('the email index', () => {
  it('answers the row before, however the email is written', () => {
    const emails = new EmailIndex()
    const note = (cell: string, row: number) => noteEmail(emails, { row, line: row, cells: [cell], error: null }, 0)
    assert.deepEqual([note('a@x.org', 1), note(' A@X.org ', 5), note('a@x.org', 9)], [0, 1, 5])
    assert.deepEqual([note('a@bücher.example', 10), note('A@xn--bcher-kva.example', 11)], [0, 10])
    assert.deepEqual([note('"a b"@x.org', 12), note('"a b"@x.org', 13)], [0, 0])
  })

  it('agrees with a map, also while it grows', () => {
    const emails = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 400 })
    fc.assert(
      fc.property(emails, list => {
        const index = new EmailIndex()
        const map = new Map<string, number>()
        for (const [at, email] of list.entries()) {
          assert.equal(index.note(email, at + 1), map.get(email) ?? 0)
          map.set(email, at + 1)
        }
      }),
    )
  })

  it('tells two hundred thousand emails apart', () => {
    const index = new EmailIndex()
    for (let row = 1; row <= 200_000; row++) assert.equal(index.note(`user${row}@example.org`, row), 0)
    assert.equal(index.note('user77@example.org', 1), 77)
  })
})
