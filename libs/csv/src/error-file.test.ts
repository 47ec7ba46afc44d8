import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorFile } from './index.ts'

const failed = { row: 2, line: 3, code: 'invalid_email', message: '=x must be an email address' }

describe('an error file', () => {
  it('holds what stood in the file, and behind it what is wrong; no spreadsheet runs it', () => {
    const { head, lineOf } = errorFile(['=x', 'name'], ['=x', 'name'])
    assert.equal(head, "'=x,name,_row,_line,_code,_error\r\n")
    assert.equal(
      lineOf({ ...failed, cells: ['=1+1', "'=2"] }),
      "'=1+1,'=2,2,3,invalid_email,'=x must be an email address\r\n",
    )
  })

  it('says nothing any more of what an earlier one has said', () => {
    const { head, lineOf } = errorFile(['_error', 'email', '_row', '_line', '_code', '_id'], ['email'])
    assert.equal(head, 'email,_id,_row,_line,_code,_error\r\n')
    assert.match(lineOf({ ...failed, cells: ['old', 'a@', '7', '8', 'old', 'id'] }), /^a@,id,2,3,invalid_email,/)
  })

  it('keeps every column that is imported', () => {
    const { head, lineOf } = errorFile(['email', '_code', '_row'], ['email', '_code'])
    assert.equal(head, 'email,_code,_row,_line,_error\r\n')
    assert.match(lineOf({ ...failed, cells: ['a@', 'their own', '7'] }), /^a@,their own,2,3,'=x/)
  })
})
