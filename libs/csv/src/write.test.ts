import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { csvRow, guard, joinTags, splitTags, unguard } from './index.ts'

const runs = { numRuns: 5000 }
const risky = fc.string({ unit: fc.constantFrom(...'\'=+-@\t\r\n019.eE|\\,"; aé'), maxLength: 8 })
const text = fc.oneof(risky, fc.string({ unit: 'binary', maxLength: 20 }))

describe('guard', () => {
  for (const cell of [
    '=1+1',
    '+1',
    '-1+1',
    '@sum',
    '\t=1',
    '\r=1',
    "'=1",
    "''@x",
    '-',
    '+44 20 7946 0000',
    '-1e',
    '--1',
  ]) {
    it(`puts an apostrophe before ${JSON.stringify(cell)}`, () => assert.equal(guard(cell), `'${cell}`))
  }
  for (const cell of ['', 'a=1', '-1', '-1.5', '-.5', '-1e+21', '-0', "'", "'a", "O'Brien", ' =1', '1-2']) {
    it(`leaves ${JSON.stringify(cell)}`, () => assert.equal(guard(cell), cell))
  }

  it('gives no cell that a spreadsheet would run', () =>
    fc.assert(
      fc.property(text, cell => assert.match(guard(cell), /^(?![=+\-@\t\r])|^-(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i)),
      runs,
    ))

  it('is undone by unguard, in one step and not in two', () =>
    fc.assert(
      fc.property(text, cell => {
        assert.equal(unguard(guard(cell)), cell)
        assert.equal(unguard(unguard(guard(guard(cell)))), cell)
        assert.ok(guard(unguard(cell)) === cell || unguard(cell) === cell)
      }),
      runs,
    ))
})

describe('csvRow', () => {
  it('quotes only where it must', () => {
    assert.equal(csvRow(['a', 'b c', '']), 'a,b c,\r\n')
    assert.equal(csvRow(['a,b', 'say "x"', 'c\nd', ' e', 'f;g']), '"a,b","say ""x""","c\nd"," e","f;g"\r\n')
    assert.equal(csvRow(['=1,2', '-5']), `"'=1,2",-5\r\n`)
  })
})

describe('joinTags', () => {
  it('escapes what separates', () => {
    assert.equal(joinTags(['a', 'b|c', 'd\\e']), 'a|b\\|c|d\\\\e')
    assert.deepEqual(splitTags('a|b\\|c|d\\\\e'), ['a', 'b|c', 'd\\e'])
  })

  it('is undone by splitTags', () => {
    const tags = fc.array(text.filter(tag => tag !== ''))
    fc.assert(
      fc.property(tags, tags => assert.deepEqual(splitTags(joinTags(tags)), tags)),
      runs,
    )
  })

  it('leaves a backslash that escapes nothing as it is', () =>
    assert.deepEqual(splitTags('C:\\temp|end\\'), ['C:\\temp', 'end\\']))

  it('makes no tags of an empty cell, and an empty one between two separators', () => {
    assert.deepEqual(splitTags(''), [])
    assert.deepEqual(splitTags('a||b|'), ['a', '', 'b', ''])
  })
})
