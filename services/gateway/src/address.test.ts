import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { limitKey, normalizeAddress } from './address.ts'

describe('a client address', () => {
  const spellings: [given: string, normalized: string | undefined][] = [
    ['203.0.113.1', '203.0.113.1'],
    ['203.0.113.1:4711', '203.0.113.1'],
    ['::ffff:203.0.113.1', '203.0.113.1'],
    ['::FFFF:cb00:7101', '203.0.113.1'],
    ['[::ffff:203.0.113.1]:80', '203.0.113.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['', undefined],
    ['unknown', undefined],
    ['203.0.113', undefined],
    ['0x7f.1', undefined],
    ['203.0.113.1, 203.0.113.2', undefined],
  ]
  for (const [given, normalized] of spellings) {
    it(`${given || '(nothing)'} is ${normalized ?? 'none'}`, () => assert.equal(normalizeAddress(given), normalized))
  }

  it('is an address or none, whatever is given, and stays what it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.ipV4(),
          fc.ipV6(),
          fc.ipV6().map(ip => `[${ip}]:1`),
        ),
        text => {
          const normalized = normalizeAddress(text)
          if (normalized === undefined) return
          assert.notEqual(isIP(normalized), 0)
          assert.equal(normalizeAddress(normalized), normalized)
          assert.doesNotMatch(normalized, /^::ffff:/)
        },
      ),
    )
  })

  it('is counted by its first 56 bits where it has more than 32', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    const hex = (value: number) => value.toString(16)
    fc.assert(
      fc.property(
        fc.array(group, { minLength: 8, maxLength: 8 }),
        fc.array(group, { minLength: 4, maxLength: 4 }),
        (own, other) => {
          const address = normalizeAddress(own.map(hex).join(':'))!
          fc.pre(address.includes(':'))
          const neighbour = [...own.slice(0, 3), (own[3]! & 0xff00) | (other[0]! & 0xff), ...other]
          assert.equal(limitKey(normalizeAddress(neighbour.slice(0, 8).map(hex).join(':'))!), limitKey(address))
          const stranger = [...own.slice(0, 3), own[3]! ^ 0x0100, ...own.slice(4)]
          assert.notEqual(limitKey(normalizeAddress(stranger.map(hex).join(':'))!), limitKey(address))
        },
      ),
    )
    assert.equal(limitKey('203.0.113.1'), '203.0.113.1')
  })
})
