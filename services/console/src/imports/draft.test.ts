import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { ImportJob, ImportUpload } from '@rollcall/sdk'
import { changed, newDraft, readDraft, stepOf } from './draft.ts'
import { typeOfValues } from './mapping.ts'

const upload = {
  importId: 'i',
  headers: ['Email', 'Full name', '_error'],
  suggestedMapping: { Email: 'email' },
  expiresAt: '2026-01-01T10:30:00.000Z',
} as unknown as ImportUpload
const uploaded = { user: 'ada', fileName: 'people.csv', upload }
const now = new Date('2026-01-01T10:00:00.000Z')

it('a draft leads as far as it is ready', () => {
  const draft = newDraft(uploaded)
  assert.equal(stepOf('dryRun', undefined), 'upload')
  assert.equal(stepOf('options', draft), 'map')
  const mapped = changed(draft, { mapping: { Email: 'email', 'Full name': 'name' } })
  assert.equal(stepOf('dryRun', mapped), 'options')
  const tried = { ...mapped, dryRun: 'job' }
  assert.equal(stepOf('dryRun', tried), 'dryRun')
  assert.equal(stepOf('map', tried), 'map')
  assert.equal(stepOf('dryRun', changed(tried, { mapping: mapped.mapping })), 'options')
})

it('a draft is read by the person who uploaded the file, as long as the server has it', () => {
  const text = JSON.stringify(newDraft(uploaded))
  assert.deepEqual(readDraft(text, 'ada', now), newDraft(uploaded))
  assert.equal(readDraft(text, 'grace', now), undefined)
  assert.equal(readDraft(text, 'ada', new Date(upload.expiresAt)), undefined)
  assert.equal(readDraft(null, 'ada', now), undefined)
})

it('a corrected file goes where the columns of its import went', () => {
  const job = {
    mapping: { Email: 'email', 'Full name': 'name', Gone: 'tags' },
    duplicateStrategy: 'skip',
    emptyValues: 'clear',
    tags: ['fair'],
    listIds: ['l'],
  } as unknown as ImportJob
  const { mapping, options } = newDraft(uploaded, job)
  assert.deepEqual(mapping, { Email: 'email', 'Full name': 'name' })
  assert.deepEqual(options, { duplicateStrategy: 'skip', emptyValues: 'clear', tags: ['fair'], listIds: ['l'] })
})

it('values suggest the type of a new attribute', () => {
  for (const [values, type] of [
    [['1', '-2.5'], 'number'],
    [['2024-01-31', '2024-02-01T10:00:00Z'], 'date'],
    [['yes', 'No'], 'boolean'],
    [['1', 'two'], 'string'],
    [[], 'string'],
  ] as const)
    assert.equal(typeOfValues(values), type)
})
