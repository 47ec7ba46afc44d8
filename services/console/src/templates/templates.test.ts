import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withVariable } from './variables.ts'

it('a variable replaces what is selected, or stands at the cursor', () => {
  assert.equal(withVariable('Hello NAME!', 'contact.name', 6, 10), 'Hello {{ contact.name }}!')
  assert.equal(withVariable('Hello ', 'contact.name', 6, 6), 'Hello {{ contact.name }}')
})
