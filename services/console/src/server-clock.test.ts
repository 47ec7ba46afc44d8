import assert from 'node:assert/strict'
import { it } from 'node:test'
import { noteAnswer, pageOpenedAt } from './server-clock.ts'

it('a page was opened at its first answer, by the clock of the server', () => {
  const answerAt = (date: string) => ({ headers: new Headers({ date }) })
  noteAnswer({ headers: new Headers() })
  noteAnswer(answerAt('Sun, 01 Mar 2026 12:00:00 GMT'))
  noteAnswer(answerAt('Sun, 01 Mar 2026 12:00:09 GMT'))
  assert.equal(pageOpenedAt(), '2026-03-01T12:00:00.000Z')
})
