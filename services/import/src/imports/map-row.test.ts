import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CsvFormat } from '@rollcall/csv'
import { columnsOf, mapRow } from './map-row.ts'
import { readMapping } from './start-import.ts'

const headers = ['E-mail', 'Name', 'Tags', 'Out', 'Company', 'Seats', 'Paid', 'Since', 'Plan', '__proto__']
const start = { offset: 0, row: 0, line: 2 }
const format: CsvFormat = { encoding: 'utf-8', delimiter: ',', headers, start }
const definitions = [
  { slug: 'company', type: 'string', options: [], required: false },
  { slug: 'seats', type: 'number', options: [], required: false },
  { slug: 'paid', type: 'boolean', options: [], required: false },
  { slug: 'since', type: 'date', options: [], required: false },
  { slug: 'plan', type: 'enum', options: ['free', 'pro'], required: false },
]
const targets = ['email', 'name', 'tags', 'unsubscribed', 'company', 'seats', 'paid', 'since', 'plan']
const columns = columnsOf({ format, mapping: targets.map((target, index) => [headers[index]!, target]) }, definitions)

const source = (cells: string[], row = 1) => ({ row, line: row + 1, cells, error: null })
const map = (cells: string[], emptyValues: 'ignore' | 'clear' = 'ignore') => mapRow(source(cells), columns, emptyValues)

describe('mapping a row', () => {
  it('reads every cell by its kind', () => {
    const { row } = map([' A@x.org ', ' Ann ', 'a|b', 'yes', ' Acme ', '1.5', 'no', '2024-01-31', 'pro', 'x'])
    assert.deepEqual(row, {
      row: 1,
      email: 'A@x.org',
      name: 'Ann',
      attributes: { company: ' Acme ', seats: 1.5, paid: false, since: '2024-01-31T00:00:00.000Z', plan: 'pro' },
      tags: ['a', 'b'],
      unsubscribed: true,
      clearTags: false,
    })
  })

  it('takes exactly one guard away', () => {
    assert.equal(map(['a@x.org', "'=cmd()"]).row?.name, '=cmd()')
    assert.equal(map(['a@x.org', "''=cmd()"]).row?.name, "'=cmd()")
    assert.equal(map(['a@x.org', "'tis"]).row?.name, "'tis")
  })

  it('leaves blank cells alone, or clears', () => {
    const blank = ['a@x.org', '', '', '', '', ' ']
    assert.deepEqual([map(blank).row?.attributes, map(blank).row?.clearTags], [{}, false])
    const cleared = map(blank, 'clear').row!
    assert.deepEqual(cleared.attributes, {
      company: null,
      seats: null,
      paid: null,
      since: null,
      plan: null,
    })
    assert.deepEqual([cleared.clearTags, cleared.name, cleared.unsubscribed], [true, '', undefined])
  })

  for (const [what, cells, expected] of [
    ['a blank email', [' '], { column: 'E-mail', field: 'email', code: 'invalid_email', message: 'E-mail is blank' }],
    [
      'a broken email',
      ['a@'],
      { column: 'E-mail', field: 'email', value: 'a@', message: 'E-mail must be an email address' },
    ],
    [
      'an invalid number',
      ['a@x.org', '', '', '', '', '1,5'],
      { column: 'Seats', field: 'attributes.seats', code: 'invalid_attribute' },
    ],
    ['an unknown option', ['a@x.org', '', '', '', '', '', '', '', 'gold'], { field: 'attributes.plan', value: 'gold' }],
    ['an invalid day', ['a@x.org', '', '', '', '', '', '', '2024-02-30'], { field: 'attributes.since' }],
    ['an invalid flag', ['a@x.org', '', '', 'maybe'], { field: 'unsubscribed', code: 'invalid_unsubscribed' }],
    ['a name that is too long', ['a@x.org', 'x'.repeat(201)], { field: 'name', code: 'invalid_name' }],
  ] as const) {
    it(`says where and why for ${what}`, () => {
      const { failure } = map([...cells])
      assert.partialDeepStrictEqual(failure, { row: 1, line: 2, ...expected })
    })
  }

  it('passes on what the file itself has wrong', () => {
    const error = { code: 'columns' as const, message: 'too many', column: 12 }
    const { failure } = mapRow({ ...source(['a@x.org']), error }, columns, 'ignore')
    assert.partialDeepStrictEqual(failure, { code: 'columns', message: 'too many', column: null, field: null })
  })
})

describe('the mapping of a start', () => {
  const read = (mapping: Record<string, string>) => readMapping(mapping, headers, definitions)
  it('is read in pairs', () => {
    assert.deepEqual(read({ 'E-mail': 'email', Name: 'name' }), [
      ['E-mail', 'email'],
      ['Name', 'name'],
    ])
  })
  it('may have a header that cannot be a key', () => {
    const mapping = readMapping(JSON.parse('{"E-mail":"email","__proto__":"name"}'), headers, definitions)
    assert.deepEqual(mapping, [
      ['E-mail', 'email'],
      ['__proto__', 'name'],
    ])
  })
  for (const [what, mapping, message] of [
    ['no name', { 'E-mail': 'email' }, 'mapping must include email and name'],
    ['no email', { Name: 'name' }, 'mapping must include email and name'],
    ['an unknown header', { Mail: 'email' }, 'invalid field -> mapping.Mail: is not a header of the file'],
    ['an unknown target', { Name: 'blocked' }, 'invalid field -> mapping.Name: is not a field or attribute'],
    ['a target twice', { Name: 'name', Company: 'name' }, 'invalid field -> mapping.Company: name is mapped twice'],
  ] as const) {
    it(`is refused with ${what}`, () => assert.throws(() => read(mapping), { message, status: 400 }))
  }
})
