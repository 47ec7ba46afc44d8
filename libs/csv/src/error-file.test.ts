import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { csvRow, errorFile, openCsv, type Row, readCsv } from './index.ts'

const failed = { row: 2, line: 3, code: 'invalid_email', message: '=x must be an email address', faulty: null }

describe('an error file', () => {
  it('contains the cells of the file, then the error; no spreadsheet runs it', () => {
    const { head, lineOf } = errorFile(['=x', 'name'], ['=x', 'name'])
    assert.equal(head, "'=x,name,_row,_line,_code,_error,_uncorrected\r\n")
    assert.equal(
      lineOf({ ...failed, cells: ['=1+1', "'=2"] }),
      "'=1+1,'=2,2,3,invalid_email,'=x must be an email address,\r\n",
    )
  })

  it('replaces the report of an earlier one', () => {
    const { head, lineOf } = errorFile(['_error', 'email', '_row', '_line', '_code', '_id'], ['email'])
    assert.equal(head, 'email,_id,_row,_line,_code,_error,_uncorrected\r\n')
    assert.match(lineOf({ ...failed, cells: ['old', 'a@', '7', '8', 'old', 'id'] }), /^a@,id,2,3,invalid_email,/)
  })

  it('keeps every column that is imported', () => {
    const { head, lineOf } = errorFile(['email', '_code', '_row'], ['email', '_code'])
    assert.equal(head, 'email,_code,_row,_line,_error,_uncorrected\r\n')
    assert.match(lineOf({ ...failed, cells: ['a@', 'their own', '7'] }), /^a@,their own,2,3,'=x/)
  })

  /** Returns the failed rows of a file, and their error file. */
  async function read(file: string | Buffer): Promise<{ headers: string[]; failed: Row[]; errors: string }> {
    async function* source() {
      yield Buffer.from(file)
    }
    const { format, body } = await openCsv(source())
    const failed: Row[] = []
    for await (const { rows } of readCsv(body, format)) failed.push(...rows.filter(row => row.error))
    const { head, lineOf } = errorFile(format.headers, [])
    const lines = failed.map(row => lineOf({ ...row, ...row.error!, faulty: row.error!.column }))
    return { headers: format.headers, failed, errors: [head, ...lines].join('') }
  }

  const inLatin1 = Buffer.from('a@example.com,Bj\xf6rn\n', 'latin1')
  const unreadable = {
    'values beyond the last header': ['a@example.com,Doe, John,, II\n', 'Doe, John, II'],
    'a quote that does not pair': ['a@example.com,"A" and more\n', '"A" and more'],
    'a quoted text that is too long': [`a@example.com,"${'x'.repeat(70_000)}\n`, `"${'x'.repeat(99)}`],
    'a NUL': ['a@example.com,A\0\n', 'A\ufffd'],
    'bytes that are not valid text': [Buffer.concat([inLatin1, Buffer.from('z@example.com,Zoë Noël\n')]), 'Bj\ufffdrn'],
  } as const
  for (const [what, [line, value]] of Object.entries(unreadable)) {
    it(`fails a row until it is corrected: ${what}`, async () => {
      const { errors } = await read(Buffer.concat([Buffer.from('email,name\n'), Buffer.from(line)]))
      const asItIs = await read(errors)
      const savedInAnotherEncoding = await read(errors.replaceAll('\ufffd', '?'))
      const onceMore = await read(asItIs.errors)
      for (const { failed } of [asItIs, savedInAnotherEncoding, onceMore]) {
        assert.deepEqual([failed[0]?.error?.code, failed[0]?.error?.column], ['uncorrected', 1])
      }
      const { headers, failed } = onceMore
      assert.equal(failed[0]!.cells[1], value)
      for (const [column, text] of [
        ['name', 'Contact One'],
        ['_uncorrected', ''],
      ] as const) {
        const corrected = failed[0]!.cells.with(headers.indexOf(column), text)
        assert.deepEqual((await read(csvRow(headers) + csvRow(corrected))).failed, [], column)
      }
    })
  }

  it('fails a row until all of its values are corrected', async () => {
    const { errors } = await read('email,name,city\na@example.com,A\0,B\0\n')
    const { failed } = await read(errors.replace('A\ufffd,', 'A,'))
    assert.equal(failed[0]?.error?.column, 2)
    assert.deepEqual((await read(errors.replace('A\ufffd,', 'A,').replace('B\ufffd,', 'B,'))).failed, [])
  })
})
