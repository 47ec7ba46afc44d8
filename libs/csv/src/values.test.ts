import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  readBoolean,
  readDate,
  readEmail,
  readNumber,
  readOption,
  readTags,
  readText,
  suggestMapping,
  type Value,
} from './index.ts'

type Cases<T> = { takes: [cell: string, value: T][]; refuses: string[]; because: RegExp }

function check<T>(name: string, read: (cell: string) => Value<T>, { takes, refuses, because }: Cases<T>): void {
  describe(name, () => {
    for (const [cell, value] of takes) {
      it(`takes ${JSON.stringify(cell)}`, () => assert.deepEqual(read(cell), { value }))
    }
    for (const cell of refuses) {
      it(`refuses ${JSON.stringify(cell.slice(0, 30))}`, () => assert.match(read(cell).reason!, because))
    }
  })
}

check('readBoolean', readBoolean, {
  takes: [
    ...['true', 'YES', ' y ', '1', 'True'].map((cell): [string, boolean] => [cell, true]),
    ...['false', 'No', 'n', '0'].map((cell): [string, boolean] => [cell, false]),
  ],
  refuses: ['', 'on', '2', 'constructor', 'ja'],
  because: /true or false/,
})

check('readNumber', readNumber, {
  takes: [
    ['12', 12],
    [' -1.5 ', -1.5],
    ['+.5', 0.5],
    ['1e3', 1000],
    ['3.', 3],
    ['-0', 0],
  ],
  refuses: ['', '1,5', '1,000.0', '0x10', '1 000', 'Infinity', '1e999', 'NaN', '٣', '1.2.3'],
  because: /decimal point/,
})

check('readDate', readDate, {
  takes: [
    ['2024-05-01', '2024-05-01T00:00:00.000Z'],
    [' 2024-02-29T10:30 ', '2024-02-29T10:30:00.000Z'],
    ['2024-05-01 10:30:15', '2024-05-01T10:30:15.000Z'],
    ['2024-05-01T10:30:15.5Z', '2024-05-01T10:30:15.500Z'],
    ['2024-05-01T10:30+02:00', '2024-05-01T08:30:00.000Z'],
    ['2024-05-01T10:30-0230', '2024-05-01T13:00:00.000Z'],
    ['2024-05-01t10:30z', '2024-05-01T10:30:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ],
  refuses: [
    '',
    '2024',
    '01.05.2024',
    '5/1/2024',
    '2024-13-01',
    '2024-00-10',
    '2024-02-30',
    '2023-02-29',
    '2024-05-01T25:00Z',
    '1714521600000',
  ],
  because: /ISO 8601/,
})

check('readText', cell => readText(cell, 5), {
  takes: [
    [' ab c ', 'ab c'],
    ['', ''],
    ['abcde', 'abcde'],
  ],
  refuses: ['abcdef'],
  because: /at most 5 characters/,
})

check('readOption', cell => readOption(cell, ['free', 'paid']), {
  takes: [[' free ', 'free']],
  refuses: ['', 'Free', 'other'],
  because: /one of free, paid/,
})

check('readEmail', readEmail, {
  takes: [
    [' A.B+c@Example.com ', 'A.B+c@Example.com'],
    ['ü@example.com', 'ü@example.com'],
    ['x@bücher.example', 'x@xn--bcher-kva.example'],
  ],
  refuses: [
    '',
    'a',
    'a@',
    '@example.com',
    'a@localhost',
    'a b@example.com',
    'a@example.com, b@example.com',
    '"a b"@example.com',
    '\u212Aevin@example.com',
    `${'a'.repeat(65)}@example.com`,
  ],
  because: /email address/,
})

check('readTags', cell => readTags(cell, { count: 3, length: 4 }), {
  takes: [
    ['', []],
    [' a | b|a||', ['a', 'b']],
    ['x\\|y|z', ['x|y', 'z']],
  ],
  refuses: ['a|b|c|d', 'abcde'],
  because: /at most/,
})

describe('an exported value', () => {
  it('is read back as the same value', () => {
    const years = { min: new Date('0000-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(fc.property(fc.date(years), date => assert.equal(readDate(date.toISOString()).value, date.toISOString())))
    fc.assert(fc.property(numbers, number => assert.equal(readNumber(String(number)).value, number + 0)))
    fc.assert(fc.property(fc.boolean(), flag => assert.equal(readBoolean(String(flag)).value, flag)))
  })
})

describe('suggestMapping', () => {
  const suggest = (headers: string[], slugs: string[] = []) => ({ ...suggestMapping(headers, slugs) })

  it('knows fields and attributes by their names, whatever case, spaces and punctuation', () => {
    assert.deepEqual(
      suggest(['E-Mail', 'NAME', 'Tags', 'Un-subscribed', 'First Name', 'Shoe size'], ['first_name', 'company']),
      {
        'E-Mail': 'email',
        NAME: 'name',
        Tags: 'tags',
        'Un-subscribed': 'unsubscribed',
        'First Name': 'first_name',
      },
    )
  })

  it('knows their common synonyms', () => {
    assert.deepEqual(suggest(['Email Address', 'Full name', 'Labels', 'Opt-out']), {
      'Email Address': 'email',
      'Full name': 'name',
      Labels: 'tags',
      'Opt-out': 'unsubscribed',
    })
    assert.deepEqual(suggest(['Prénom', 'Courriel']), { Prénom: 'name', Courriel: 'email' })
  })

  it('uses each field once, for the likeliest column', () => {
    assert.deepEqual(suggest(['mail', 'first name', 'name', 'email']), { name: 'name', email: 'email' })
    assert.deepEqual(suggest(['Email', 'e-mail', 'First name', 'Last name']), { Email: 'email', 'First name': 'name' })
  })

  it('leaves out what an error report adds, and columns without a name', () => {
    assert.deepEqual(suggest(['_row', '_code', '!!', '_name'], ['row', 'code']), {})
  })

  it('treats any header as plain text', () => {
    const mapping = suggestMapping(['__proto__', 'constructor', 'email'], ['proto', 'constructor'])
    assert.deepEqual(Object.entries(mapping), [
      ['email', 'email'],
      ['constructor', 'constructor'],
    ])
    assert.equal(Object.getPrototypeOf(mapping), null)
  })
})
