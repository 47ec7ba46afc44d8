import assert from 'node:assert/strict'
import { it } from 'node:test'
import { emailsOf } from './emails.ts'

it('takes addresses from lines, commas and semicolons, each once', () => {
  assert.deepEqual(emailsOf('a@x.de, b@x.de\n\nc@x.de;a@x.de '), ['a@x.de', 'b@x.de', 'c@x.de'])
  assert.deepEqual(emailsOf(' \n'), [])
})
