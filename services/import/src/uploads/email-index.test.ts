import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { EmailIndex } from './email-index.ts'

describe('the email index', () => {
  it('answers the row before, whatever the case and the spaces around', () => {
    const index = new EmailIndex()
    assert.deepEqual([index.note('a@x.org', 1), index.note(' A@X.org ', 5), index.note('a@x.org', 9)], [0, 1, 5])
  })

  it('agrees with a map, also while it grows', () => {
    const emails = fc.array(fc.string({ minLength: 1, maxLength: 3 }), { maxLength: 400 })
    fc.assert(
      fc.property(emails, list => {
        const index = new EmailIndex()
        const map = new Map<string, number>()
        for (const [at, email] of list.entries()) {
          const key = email.trim().toLowerCase()
          assert.equal(index.note(email, at + 1), map.get(key) ?? 0)
          map.set(key, at + 1)
        }
      }),
    )
  })

  it('tells two hundred thousand emails apart', () => {
    const index = new EmailIndex()
    for (let row = 1; row <= 200_000; row++) assert.equal(index.note(`user${row}@example.org`, row), 0)
    assert.equal(index.note('USER77@example.org', 1), 77)
  })
})
