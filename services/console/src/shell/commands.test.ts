import assert from 'node:assert/strict'
import { it } from 'node:test'
import { matching } from './commands.ts'

it('the palette finds commands by any words, and first those that begin with them', () => {
  const commands = ['Create user', 'Users', 'Übersicht', 'Imports'].map(label => ({ key: label, label, run: () => {} }))
  const found = (text: string) => matching(commands, text).map(({ label }) => label)
  assert.deepEqual(found('user'), ['Users', 'Create user'])
  assert.deepEqual(found('user  CREATE'), ['Create user'])
  assert.deepEqual(found('uber'), ['Übersicht'])
  assert.deepEqual(found('nothing like it'), [])
  assert.equal(found('').length, 4)
})
