import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AppError } from './errors.ts'

it('instanceof tells refusals, and types their codes by the catalogue', () => {
  const thrown: unknown = new AppError('list.archived', { path: 'id' })
  assert.ok(!(new Error('list.archived') instanceof AppError))
  assert.ok(thrown instanceof AppError)
  // @ts-expect-error no such code
  assert.ok(thrown.code !== 'list.archvied')
  assert.ok(thrown.code === 'list.archived')
})
