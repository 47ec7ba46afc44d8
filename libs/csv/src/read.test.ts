import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import {
  type Batch,
  type ByteSource,
  CsvError,
  type CsvFormat,
  csvRow,
  defaultLimits,
  guard,
  openCsv,
  type ReadOptions,
  type Row,
  readCsv,
  unguard,
} from './index.ts'

/** Yields the bytes in pieces of the given sizes, repeated; as a whole without sizes. */
async function* pieces(bytes: Uint8Array, sizes: readonly number[] = []): ByteSource & AsyncGenerator<Uint8Array> {
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes.length === 0 ? bytes.length : sizes[piece % sizes.length]!
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const bytesOf = (text: string | Uint8Array): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text)

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

type Read = { format: CsvFormat; batches: Batch[]; rows: Row[] }

async function read(file: string | Uint8Array, options: ReadOptions & { sizes?: number[] } = {}): Promise<Read> {
  const { format, body } = await openCsv(pieces(bytesOf(file), options.sizes))
  const batches = await collect(readCsv(body, format, options))
  return { format, batches, rows: batches.flatMap(batch => batch.rows) }
}

/** Returns the rows in short form: the cells, or line and code of the error. */
const brief = (rows: Row[]) => rows.map(({ line, cells, error }) => (error ? `${line} ${error.code}` : cells))
const briefly = async (file: string | Uint8Array, options: ReadOptions = {}) => brief((await read(file, options)).rows)

const small = { ...defaultLimits, fieldLength: 40 }

describe('readCsv', () => {
  it('reads what RFC 4180 describes', async () => {
    const file = 'a,b\r\nplain,"quoted, with ""quotes"" and\r\na line"\r\n"",x\r\n'
    assert.deepEqual(await briefly(file), [
      ['plain', 'quoted, with "quotes" and\r\na line'],
      ['', 'x'],
    ])
  })

  it('takes LF, CR and CRLF, one file with all of them too, with and without one at the end', async () => {
    for (const file of ['a,b\n1,2\n3,4\n', 'a,b\r1,2\r3,4', 'a,b\r\n1,2\r\n3,4\r\n', 'a,b\r1,2\n3,4\r\n']) {
      const { rows } = await read(file)
      assert.deepEqual(rows, [
        { row: 1, line: 2, cells: ['1', '2'], error: null },
        { row: 2, line: 3, cells: ['3', '4'], error: null },
      ])
    }
  })

  it('counts physical lines, also of quoted fields and blank lines, and rows without the blank ones', async () => {
    const { rows } = await read('a,b\n\n1,"x\ny\r\nz"\n , \n;\n,,,\r\n2,\n')
    assert.deepEqual(
      rows.map(({ row, line, cells }) => [row, line, cells]),
      [
        [1, 3, ['1', 'x\ny\r\nz']],
        [2, 7, [';', '']],
        [3, 9, ['2', '']],
      ],
    )
  })

  it('fills missing cells, drops blank surplus, and fails a row with a value beyond the last header', async () => {
    const file = 'a,b,c\n1\n1,2,3,\n1,2,3,,4\n1,2,3, ,\n1,2\n'
    const whole = ['1', '2', '3']
    assert.deepEqual(await briefly(file), [['1', '', ''], whole, '4 columns', whole, ['1', '2', '']])
  })

  it('keeps values beyond the last header with the last one, up to the limit of a field', async () => {
    const { rows } = await read(`a;b\n1;two; "three" ;;"4;5"\n2;${'x;'.repeat(100)}\n`, { limits: small })
    const error = { code: 'columns', message: 'there are more values than the 2 columns', column: 1 }
    assert.deepEqual(rows, [
      { row: 1, line: 2, cells: ['1', 'two; "three" ;4;5'], error },
      { row: 2, line: 3, cells: ['2', 'x;'.repeat(20)], error },
    ])
  })

  it('takes a quote within an unquoted field as it is, and lets blanks follow a closing one', async () => {
    assert.deepEqual(await briefly('a,b\n5" disk,say "hi"\n"x" \t,"y"  \n x, "y"\n'), [
      ['5" disk', 'say "hi"'],
      ['x', 'y'],
      [' x', ' "y"'],
    ])
  })

  it('fails only the row of a quote that is never closed, and reads on at the next line', async () => {
    const head = 'a,b\n1,one\n2,"never closed\n'
    assert.deepEqual(await briefly(`${head}3,three\n4,four`), [['1', 'one'], '3 quote', ['3', 'three'], ['4', 'four']])
    const far = `${head}${'3,three\n'.repeat(10)}4,"four"\n`
    const expected = [['1', 'one'], '3 quote', ...Array(10).fill(['3', 'three']), ['4', 'four']]
    assert.deepEqual(await briefly(far, { limits: small }), expected, 'beyond the limit of a field')
    assert.deepEqual(await briefly(far), expected, 'text after what would close it')
  })

  it('keeps the text of a row with an unpaired quote', async () => {
    const { rows } = await read('a,b,c\n1,"One "the" first",x\n2,y,z\n')
    const message = 'text follows a closing quote'
    assert.deepEqual(rows[0], {
      row: 1,
      line: 2,
      cells: ['1', '"One "the" first",x', ''],
      error: { code: 'quote', message, column: 1 },
    })
    assert.deepEqual(rows[1]!.cells, ['2', 'y', 'z'])
  })

  it('fails a row whose second line opens the bad quote, and reads on after that line', async () => {
    const file = 'a,b,c\n1,"two\nlines","open\n2,y,z\n'
    assert.deepEqual(await briefly(file), ['2 quote', ['2', 'y', 'z']])
    assert.equal((await read(file)).rows[1]!.line, 4)
  })

  it('fails the row of a field over the limit, however long, and keeps only its beginning', async () => {
    const long = 'x'.repeat(300_000)
    for (const field of [long, `"${long}"`]) {
      const { rows } = await read(`a,b\n${field},1\n2,${field}\n3,4\n`)
      assert.deepEqual(
        rows.map(row => row.error?.code),
        field === long ? ['length', 'length', undefined] : ['quote', 'quote', undefined],
      )
      assert.ok(rows.flatMap(row => row.cells).every(cell => cell.length <= 100))
    }
    const exact = 'y'.repeat(40)
    assert.deepEqual(await briefly(`a,b\n${exact},"${exact}"\n${exact}y,1\n`, { limits: small }), [
      [exact, exact],
      '3 length',
    ])
  })

  it('fails only the rows with invalid bytes, or a NUL', async () => {
    const file = Buffer.from(
      'email,name\na@example.com,Zoë\nb@example.com,Bj#rn\nc@example.com,N$l\nd@example.com,José\n',
    )
    file[file.indexOf('#')] = 0xf6
    file[file.indexOf('$')] = 0
    const { rows, format } = await read(file)
    assert.equal(format.encoding, 'utf-8')
    assert.deepEqual(brief(rows), [['a@example.com', 'Zoë'], '3 encoding', '4 nul', ['d@example.com', 'José']])
    assert.deepEqual(rows[1]!.cells, ['b@example.com', 'Bj\ufffdrn'])
    assert.deepEqual([rows[1]!.error!.column, rows[2]!.cells[1]], [1, 'N\ufffdl'])
  })

  it('reports at the end that a file is not UTF-8, and then reads it correctly', async () => {
    const filler = 'someone@example.com,Someone\n'.repeat(10_000)
    const file = Buffer.from(`email,name\n${filler}b@example.com,Björn\nc@example.com,Jürgen Groß\n`, 'latin1')
    const first = await openCsv(pieces(file))
    assert.equal(first.format.encoding, 'utf-8')
    const reading = readCsv(first.body, first.format)
    const failed = (await collect(reading)).flatMap(batch => batch.rows).filter(row => row.error)
    assert.deepEqual(brief(failed), ['10002 encoding', '10003 encoding'])

    const encoding = reading.otherEncoding()
    assert.equal(encoding, 'windows-1252')
    const again = await openCsv(pieces(file), { encoding: encoding! })
    const rows = (await collect(readCsv(again.body, again.format))).flatMap(batch => batch.rows)
    assert.deepEqual(rows.at(-2)!.cells, ['b@example.com', 'Björn'])
    assert.ok(rows.every(row => row.error === null))
  })

  it('keeps UTF-8 for a file with more valid than invalid bytes', async () => {
    const good = 'a@example.com,Zoë Müller\n'.repeat(10_000)
    const file = Buffer.concat([Buffer.from(`email,name\n${good}`), Buffer.from('b@example.com,Bj\xf6rn\n', 'latin1')])
    const { format, body } = await openCsv(pieces(file))
    const reading = readCsv(body, format)
    await collect(reading)
    assert.equal(reading.otherEncoding(), null)
  })

  it('rejects more rows than allowed, when it reaches them', async () => {
    const reading = readCsv(pieces(Buffer.from('1\n2\n3\n')), formatOf(1), {
      limits: { ...small, rows: 2 },
      batchRows: 1,
    })
    const seen: Row[] = []
    const all = async () => {
      for await (const { rows } of reading) seen.push(...rows)
    }
    await assert.rejects(all, (error: unknown) => error instanceof CsvError && error.code === 'rows')
    assert.equal(seen.length, 2)
  })

  it('ends a batch by rows or by length', async () => {
    const file = `a,b\n${'1,2\n'.repeat(5)}${`${'x'.repeat(30)},2\n`.repeat(3)}`
    const sizes = async (options: ReadOptions) => (await read(file, options)).batches.map(batch => batch.rows.length)
    assert.deepEqual(await sizes({}), [8])
    assert.deepEqual(await sizes({ batchRows: 3 }), [3, 3, 2])
    assert.deepEqual(await sizes({ batchLength: 30 }), [6, 1, 1])
  })

  it('passes on what the source throws, and closes the source when it is left', async () => {
    let closed = 0
    async function* source(fails: boolean) {
      try {
        yield Buffer.from('a,b\n1,2\n')
        for (let n = 0; n < 20; n++) yield Buffer.from('3,4\n'.repeat(10_000))
        if (fails) throw new Error('disk is gone')
      } finally {
        closed += 1
      }
    }
    const failing = await openCsv(source(true))
    await assert.rejects(collect(readCsv(failing.body, failing.format)), /disk is gone/)
    const left = await openCsv(source(false))
    for await (const _ of readCsv(left.body, left.format)) break
    await assert.rejects(openCsv(source(false), { limits: { ...small, columns: 1 } }))
    assert.equal(closed, 3)
  })

  it('yields to the event loop, even for one big piece', async () => {
    const file = Buffer.from(`a,b\n${'some text,more text\n'.repeat(400_000)}`)
    const { format, body } = await openCsv(pieces(file))
    let ticks = 0
    const clock = setInterval(() => ticks++, 1)
    await collect(readCsv(body, format))
    clearInterval(clock)
    assert.ok(ticks >= 3, `${ticks} ticks`)
  })
})

const formatOf = (columns: number, delimiter = ','): CsvFormat => ({
  encoding: 'utf-8',
  delimiter,
  headers: Array.from({ length: columns }, (_, index) => `h${index}`),
  start: { offset: 0, row: 0, line: 1 },
})

// Properties

const character = fc.constantFrom(...'aB7 ,;|"\'=+-@\t', '\n', '\r', '\r\n', 'é', '漢', '😀', '\u2028', '\ufeff')
const cell = fc.string({ unit: character, maxLength: 12 })
const table = fc
  .integer({ min: 1, max: 6 })
  .chain(width => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 30 }))
const sizes = fc.array(fc.integer({ min: 0, max: 17 }), { maxLength: 5 }).map(some => [...some, 1])
const isBlankRow = (cells: string[]) => cells.every(each => each.trim() === '')

/** Like readCsv, but with exactly these piece sizes: readCsv combines small pieces. */
const { CsvParser } = await import('./parser.ts')
const { createDecoder } = await import('./decode.ts')

function parseInPieces(file: Buffer, format: CsvFormat, sizes: readonly number[], limits = defaultLimits): Row[] {
  const { decode, end, byteLength } = createDecoder(format.encoding)
  const columns = format.headers.length
  const parser = new CsvParser({ delimiter: format.delimiter, limits, columns, from: format.start, byteLength })
  const rows: Row[] = []
  const take = () => {
    for (let row = parser.next(); row; row = parser.next()) {
      const { offset } = parser.checkpoint
      assert.ok(offset >= format.start.offset && offset <= file.length + 1)
      rows.push(row)
    }
  }
  for (let at = format.start.offset, piece = 0; at < file.length; piece++) {
    const size = sizes[piece % sizes.length]!
    parser.push(decode(file.subarray(at, at + size)))
    take()
    at += size
  }
  parser.push(end())
  parser.end()
  take()
  return rows
}

describe('for all files', () => {
  it('written rows are read back', () =>
    fc.assert(
      fc.property(table, sizes, (rows, sizes) => {
        const file = Buffer.from(rows.map(csvRow).join(''))
        const read = parseInPieces(file, formatOf(rows[0]?.length ?? 1), sizes)
        const cells = read.map(row => row.cells.map(unguard))
        assert.deepEqual(
          cells,
          rows.filter(row => !isBlankRow(row.map(guard))),
        )
      }),
      { numRuns: 2000 },
    ))

  it('well-formed input is read as csv-parse reads it, in whatever pieces', () => {
    const field = (delimiter: string) =>
      fc.tuple(cell, fc.boolean()).map(([text, quoted]) => {
        const must = quoted || text.includes(delimiter) || /["\r\n]/.test(text)
        return must ? `"${text.replaceAll('"', '""')}"` : text
      })
    const files = fc
      .tuple(fc.constantFrom(',', ';', '\t', '|'), fc.constantFrom('\n', '\r\n', '\r'), fc.integer({ min: 1, max: 5 }))
      .chain(([delimiter, newline, width]) =>
        fc
          .array(fc.array(field(delimiter), { minLength: width, maxLength: width }), { maxLength: 20 })
          .map(rows => ({ delimiter, newline, width, text: rows.map(row => row.join(delimiter)).join(newline) })),
      )
    const property = fc.property(files, sizes, ({ delimiter, newline, width, text }, sizes) => {
      const oracle = parse(text, {
        delimiter,
        record_delimiter: newline,
        bom: false,
        skip_empty_lines: true,
      }) as string[][]
      const rows = parseInPieces(Buffer.from(text), formatOf(width, delimiter), sizes)
      assert.ok(rows.every(row => row.error === null))
      assert.deepEqual(
        rows.map(row => row.cells),
        oracle.filter(cells => !isBlankRow(cells)),
      )
    })
    fc.assert(property, { numRuns: 3000 })
  })

  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 400 }).map(bytes => Buffer.from(bytes)),
    fc.string({ unit: character, maxLength: 400 }).map(text => Buffer.from(text)),
    fc
      .array(fc.constantFrom('"', ',', '\n', '\r', 'x', '""', '","', '\0', '😀', 'é'), { maxLength: 300 })
      .map(parts => Buffer.from(parts.join(''))),
    fc
      .array(fc.constantFrom('"', ',', '\n', 'x', '\xe9', '\xf0\x9f', '\xe2\x82\xac', '\xc3'), { maxLength: 200 })
      .map(parts => Buffer.from(parts.join(''), 'latin1')),
  )
  const tight = { ...defaultLimits, fieldLength: 8, columns: 4 }
  const encodings = fc.constantFrom('utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'windows-1253') as fc.Arbitrary<
    CsvFormat['encoding']
  >

  it('the pieces make no difference, not even to errors', () =>
    fc.assert(
      fc.property(hostile, encodings, sizes, fc.constantFrom(tight, defaultLimits), (file, encoding, sizes, limits) => {
        const format = { ...formatOf(3), encoding }
        const whole = parseInPieces(file, format, [file.length + 1], limits)
        assert.deepEqual(parseInPieces(file, format, sizes, limits), whole)
        for (const { cells } of whole) {
          assert.equal(cells.length, 3)
          assert.ok(cells.every(each => each.isWellFormed() && !each.includes('\0')))
        }
      }),
      { numRuns: 5000 },
    ))

  it('resuming at any checkpoint returns exactly the remaining batches', () =>
    fc.assert(
      fc.asyncProperty(
        hostile,
        encodings,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 60 }),
        async (file, encoding, batchRows, batchLength) => {
          const format = { ...formatOf(3), encoding }
          const options = { limits: tight, batchRows, batchLength }
          const batches = await collect(readCsv(pieces(file), format, options))
          for (const [index, { checkpoint }] of batches.entries()) {
            const rest = pieces(file.subarray(checkpoint.offset))
            const resumed = await collect(readCsv(rest, format, { ...options, from: checkpoint }))
            assert.deepEqual(resumed, batches.slice(index + 1))
          }
        },
      ),
      { numRuns: 1500 },
    ))

  it('any bytes are read, or rejected with a declared error', () =>
    fc.assert(
      fc.asyncProperty(hostile, sizes, async (file, sizes) => {
        try {
          await read(file, { sizes, limits: tight })
        } catch (error) {
          assert.ok(error instanceof CsvError, String(error))
        }
      }),
      { numRuns: 3000 },
    ))

  it('hostile quoting costs no more than linear time', () => {
    const patterns = [
      ',x',
      '"',
      '"\n',
      'a,"\n',
      '""',
      '"a""',
      ',',
      '\r',
      '" ',
      'x"y\n',
      '"a\n'.repeat(3),
      '\xff',
      '"\n"x',
    ]
    for (const pattern of patterns) {
      const file = Buffer.from(pattern.repeat(300_000 / pattern.length), 'latin1')
      const startedAt = performance.now()
      parseInPieces(file, formatOf(3), [64 * 1024])
      const seconds = (performance.now() - startedAt) / 1000
      assert.ok(seconds < 3, `${JSON.stringify(pattern)} took ${seconds} s for 0.3 MB`)
    }
  })
})
