import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readExpiry } from './expiry.ts'

const now = Date.parse('2030-06-01T12:00:00Z')

describe('expiry of a new token', () => {
  for (const [given, expected] of [
    [undefined, null],
    ['null', null],
    ['"2030-06-02"', '2030-06-02T00:00:00.000Z'],
    ['"2030-06-01T12:00:01"', '2030-06-01T12:00:01.000Z'],
    ['"2030-06-01T12:00:00.001Z"', '2030-06-01T12:00:00.001Z'],
    ['"2030-06-01T14:30:00+02:00"', '2030-06-01T12:30:00.000Z'],
    ['"2032-02-29"', '2032-02-29T00:00:00.000Z'],
  ] as const) {
    it(`is ${expected} for ${given}`, () => {
      assert.equal(readExpiry(given && JSON.parse(given), now)?.toISOString() ?? null, expected)
    })
  }

  for (const given of [
    '"2030-06-01T12:00:00Z"',
    '"2030-06-01"',
    '"2020-01-01"',
    '"2031-02-29"',
    '"2031-13-01"',
    '"2031-01-01T25:00:00Z"',
    '"next week"',
    '"2031"',
    '""',
    '4102444800000',
    'true',
    '{}',
    '["2031-01-01"]',
  ]) {
    it(`is refused for ${given}`, () => {
      assert.throws(() => readExpiry(JSON.parse(given), now), {
        status: 400,
        message: 'expiresAt must be a valid future date.',
        path: 'expiresAt',
      })
    })
  }
})
