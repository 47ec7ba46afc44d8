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

it('long texts of details are cut, in lists too', () => {
  const long = 'x'.repeat(2000)
  const cut = `${'x'.repeat(1024)}…`
  const { message, path } = new AppError('request.extra_field', { path: long })
  assert.deepEqual([message, path], [`extra field -> ${cut}`, cut])
  const { details } = new AppError('domain.records_wrong', { faults: ['short', long] })
  assert.deepEqual(details, { faults: ['short', cut] })
})
