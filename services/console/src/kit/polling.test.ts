import assert from 'node:assert/strict'
import { it } from 'node:test'
import { BadRequestError, ConnectionError, NotFoundError, RateLimitError, UnavailableError } from '@rollcall/sdk'
import { pollWhile } from './polling.ts'

const interval = pollWhile((isRunning: boolean) => isRunning, 700)
const after = (error: Error | null, data?: boolean) => interval({ state: { data, error } })

it('polls until the record is final', () => {
  assert.equal(after(null), 700)
  assert.equal(after(null, true), 700)
  assert.equal(after(null, false), false)
})

it('polls on after errors that pass, and ends at others', () => {
  const passing = [
    new ConnectionError('no answer', { status: 0 }),
    new RateLimitError('too many requests', { status: 429 }),
    new UnavailableError('unavailable', { status: 503 }),
  ]
  for (const error of passing) assert.equal(after(error), 700, error.name)
  const lasting = [
    new NotFoundError('gone', { status: 404 }),
    new BadRequestError('no id', { status: 400 }),
    new Error(),
  ]
  for (const error of lasting) {
    assert.equal(after(error), false, error.name)
    assert.equal(after(error, true), false, error.name)
  }
})
