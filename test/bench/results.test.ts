import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { recordFigures } from './results.ts'

const table = (rows: string[], machines: string[]) =>
  [
    '# Results',
    '',
    '| figure | measured | goal | | machine |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    ...machines,
    '',
    'End.',
    '',
  ].join('\n')

it('a figure replaces the earlier one of its name, and rows keep their machines', () => {
  const before = table(['| P2 | 1× | ≥ 1× | ok | A |', '| P10 | 2× | ≥ 3× | short | A |'], ['- A: old'])
  const after = recordFigures(before, [{ name: 'P10', measured: '3×', goal: '≥ 3×', ok: true }], 'new')
  assert.equal(after, table(['| P2 | 1× | ≥ 1× | ok | A |', '| P10 | 3× | ≥ 3× | ok | B |'], ['- A: old', '- B: new']))
  const figure = { name: 'P2', measured: '1×', goal: '≥ 1×', ok: true }
  assert.equal(
    recordFigures(after, [figure], 'new'),
    table(['| P2 | 1× | ≥ 1× | ok | B |', '| P10 | 3× | ≥ 3× | ok | B |'], ['- B: new']),
    'a machine without rows is dropped',
  )
})

it('a row of an unknown machine is refused', () => {
  const text = table(['| P2 | 1× | ≥ 1× | ok | B |'], ['- A: old'])
  assert.throws(() => recordFigures(text, [], 'new'), /not a row of a known machine: \| P2/)
})

it('RESULTS.md is as it would be written', () => {
  const text = readFileSync(join(import.meta.dirname, 'RESULTS.md'), 'utf8')
  assert.equal(recordFigures(text, [], 'new'), text)
})
