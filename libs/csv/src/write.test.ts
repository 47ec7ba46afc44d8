import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvRow, guard, joinTags, splitTags, unguard, writeCell } from './index.ts'

const runs = { numRuns: 5000 }
const risky = fc.string({ unit: fc.constantFrom(...'\'=+-@\t\r\n019.eE|\\,"; aé＝＋－＠'), maxLength: 8 })
const text = fc.oneof(risky, fc.string({ unit: 'binary', maxLength: 20 }))

describe('guard', () => {
  for (const cell of [
    '=1+1',
    '+1',
    '-1+1',
    '@sum',
    '\tx',
    '\rx',
    "'=1",
    "''@x",
    '-',
    '+44 20 7946 0000',
    '-1e',
    '--1',
    '＝1',
    '＋1',
    '－1',
    '＠x',
  ]) {
    it(`puts an apostrophe before ${JSON.stringify(cell)}`, () => assert.equal(guard(cell), `'${cell}`))
  }
  for (const cell of ['', 'a=1', '-1', '-1.5', '-.5', '-1e+21', '-0', "'", "'a", "O'Brien", ' =1', '1-2']) {
    it(`leaves ${JSON.stringify(cell)}`, () => assert.equal(guard(cell), cell))
  }

  for (const [cell, guarded] of [
    [";=cmd|'/c calc'!A0;", ";'=cmd|'/c calc'!A0;"],
    ['a\t+1', "a\t'+1"],
    ['a\r\n-1', "a\r\n'-1"],
    ['a;＠x', "a;'＠x"],
    ['a;"=1', 'a;\'"=1'],
    ["a;'=1", "a;''=1"],
    ['=1;=2', "'=1;'=2"],
    ['-1;-2', "'-1;'-2"],
    ['\t=1', "'\t'=1"],
  ]) {
    it(`makes ${JSON.stringify(guarded)} of ${JSON.stringify(cell)}`, () => assert.equal(guard(cell!), guarded))
  }
  for (const cell of ['a;b', 'a,=b', 'a; -1', 'a\n\nb', '(;)', 'a;"b']) {
    it(`leaves ${JSON.stringify(cell)}`, () => assert.equal(guard(cell), cell))
  }

  it('gives no cell that a spreadsheet would run', () =>
    fc.assert(
      fc.property(text, cell =>
        assert.match(guard(cell), /^(?![=+\-@\t\r＝＋－＠])|^-(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i),
      ),
      runs,
    ))

  it('is undone by unguard, in one step and not in two', () =>
    fc.assert(
      fc.property(text, cell => {
        assert.equal(unguard(guard(cell)), cell)
        assert.equal(unguard(unguard(guard(guard(cell)))), cell)
      }),
      runs,
    ))
})

describe('csvRow', () => {
  /**
   * Returns the cells as a lenient spreadsheet with this separator reads them: quotes count only at a field's start.
   */
  const cellsOf = (file: string, separator: string): string[] => {
    const cells: string[] = []
    let at = 0
    while (at <= file.length) {
      let cell = ''
      if (file[at] === '"') {
        for (at += 1; at < file.length; at++) {
          if (file[at] === '"' && file[++at] !== '"') break
          cell += file[at]
        }
      }
      for (; at < file.length && !`${separator}\r\n`.includes(file[at]!); at++) cell += file[at]
      cells.push(cell)
      at += 1
    }
    return cells
  }
  /** Whether a spreadsheet would run the cell, even if it drops leading white space. */
  const isRun = (cell: string) =>
    /^[\t\r\n]*[=+\-@＝＋－＠]/.test(cell) && !/^-(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(cell)
  const rows = fc.array(fc.array(text, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })

  it('gives nothing that a spreadsheet would run, whatever its list separator', () =>
    fc.assert(
      fc.property(rows, fc.constantFrom(',', ';', '\t'), (rows, separator) => {
        const file = rows.map(cells => csvRow(['a@example.com', ...cells])).join('')
        const run = cellsOf(file, separator).find(isRun)
        assert.equal(run, undefined, JSON.stringify(file))
      }),
      runs,
    ))

  it('comes back as it was through a reader of CSV and unguard', () =>
    fc.assert(
      fc.property(rows, rows => {
        const file = rows.map(cells => csvRow(['a@example.com', ...cells])).join('')
        const read = parse(file, { relaxColumnCount: true, recordDelimiter: '\r\n' }) as string[][]
        assert.deepEqual(
          read.map(([, ...cells]) => cells.map(unguard)),
          rows,
        )
      }),
      runs,
    ))

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

it('writes bytes as the cell that it makes of their text', () => {
  const target = Buffer.alloc(1000)
  fc.assert(
    fc.property(text, text, (before, cell) => {
      const source = Buffer.from(before + cell)
      const end = writeCell(target, 3, source, Buffer.byteLength(before), source.length)
      assert.equal(`${target.toString('utf8', 3, end)}\r\n`, csvRow([cell.toWellFormed()]))
    }),
    runs,
  )
})
