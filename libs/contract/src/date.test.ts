import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseDate } from './date.ts'

const runs = { numRuns: 5000 }
const two = (number: number) => String(number).padStart(2, '0')

describe('a date', () => {
  for (const [text, expected] of [
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-05-01T10:30', '2024-05-01T10:30:00.000Z'],
    ['2024-05-01T10:30:05Z', '2024-05-01T10:30:05.000Z'],
    ['2024-05-01T10:30:05.1', '2024-05-01T10:30:05.100Z'],
    ['2024-05-01T10:30:05.123456789Z', '2024-05-01T10:30:05.123Z'],
    ['2024-05-01T10:30:00+02:00', '2024-05-01T08:30:00.000Z'],
    ['2024-01-01T00:30+0530', '2023-12-31T19:00:00.000Z'],
    ['2024-05-01 10:30', '2024-05-01T10:30:00.000Z'],
    ['2024-05-01t10:30z', '2024-05-01T10:30:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
  ] as const) {
    it(`is ${expected} for ${text}`, () => assert.equal(parseDate(text)?.toISOString(), expected))
  }

  for (const text of [
    ...['', '2024', '2024-05', '01.05.2024', '5/1/2024', '1714521600000', '+002024-01-01', '2024-W05-1', '2024-122'],
    ...['2024-02-30', '2024-02-31', '2023-02-29', '1900-02-29', '2024-04-31', '2024-13-01', '2024-00-10', '2024-01-00'],
    ...['2024-05-01T24:00Z', '2024-05-01T25:00Z', '2024-05-01T10:60Z', '2024-05-01T23:59:60Z', '2024-05-01T10Z'],
    ...['2024-05-01Z', '2024-05-01T10:00+24:00', '2024-05-01T10:00+02', '2024-05-01T10:00:00.', ' 2024-05-01'],
    ...['2024-05-01T10:00:00.1234567890Z', '0000-01-01T00:00+01:00', '9999-12-31T23:59-01:00', '٢٠٢٤-٠١-٠١'],
  ]) {
    it(`is refused for ${JSON.stringify(text)}`, () => assert.equal(parseDate(text), undefined))
  }

  it('that was written by toISOString is that very moment', () => {
    const written = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(written, date => assert.equal(parseDate(date.toISOString())?.getTime(), date.getTime())),
      runs,
    )
  })

  it('is on the calendar exactly where adding up the days of its months says so', () => {
    const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
    const daysOf = (year: number, month: number) =>
      [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
    const number = (max: number) => fc.integer({ min: 0, max })
    fc.assert(
      fc.property(number(9999), number(13), number(32), (year, month, day) => {
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
        const expected = day >= 1 && day <= daysOf(year, month) ? `${text}T00:00:00.000Z` : undefined
        assert.equal(parseDate(text)?.toISOString(), expected)
      }),
      runs,
    )
  })

  it('is the moment that Date makes of it, where it names a time and a zone', () => {
    const number = (max: number) => fc.integer({ min: 0, max }).map(two)
    const zone = fc.oneof(
      fc.constant('Z'),
      fc.tuple(fc.constantFrom('+', '-'), number(23), number(59)).map(([s, h, m]) => `${s}${h}:${m}`),
    )
    const time = fc.tuple(number(23), number(59), number(59), zone).map(([h, m, s, z]) => `T${h}:${m}:${s}${z}`)
    const day = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(day, time, (date, time) => {
        const text = date.toISOString().slice(0, 10) + time
        assert.equal(parseDate(text)?.getTime(), Date.parse(text), text)
      }),
      runs,
    )
  })
})
