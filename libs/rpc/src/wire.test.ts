import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AppError } from '@rollcall/contract'
import { toStatus } from './wire.ts'

it('a refusal that names half a character can be sent', () => {
  const { details = '' } = toStatus(new AppError('invalid_field', { path: 'sort', reason: '\ud800 is not a field' }))
  assert.doesNotThrow(() => encodeURI(details))
  assert.match(details, /is not a field/)
})
