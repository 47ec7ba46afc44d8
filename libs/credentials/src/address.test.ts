import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isAllowedAddress, isInBlocks } from './address.ts'

describe('an address', () => {
  it('lies in a block by its leading bits', () => {
    const bits = (ip: string) =>
      ip
        .split('.')
        .map(part => Number(part).toString(2).padStart(8, '0'))
        .join('')
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, network, length) => {
        const expected = bits(address).slice(0, length) === bits(network).slice(0, length)
        assert.equal(isInBlocks(address, [`${network}/${length}`]), expected)
      }),
    )
  })

  it('lies in a block of IPv4-mapped addresses as the IPv4 address that it is', () => {
    for (const block of ['::ffff:203.0.113.0/120', '::ffff:203.0.113.1', '::ffff:0:0/96'])
      assert.equal(isInBlocks('203.0.113.1', [block]), true, block)
    assert.equal(isInBlocks('203.0.114.1', ['::ffff:203.0.113.0/120']), false)
  })

  it('lies in no block of the other family', () => {
    assert.equal(isInBlocks('203.0.113.1', ['2001:db8::/32', '::/0']), false)
    assert.equal(isInBlocks('2001:db8::1', ['203.0.113.0/24', '0.0.0.0/0']), false)
    assert.equal(isInBlocks('2001:db8::1', ['203.0.113.0/24', '2001:db8::/32']), true)
    assert.equal(isInBlocks('', ['0.0.0.0/0']), false)
  })

  it('is allowed if it lies in a block, or if there is none', () => {
    assert.equal(isAllowedAddress('203.0.113.1', []), true)
    assert.equal(isAllowedAddress('', []), true)
    assert.equal(isAllowedAddress('203.0.113.1', ['203.0.113.0/24']), true)
    assert.equal(isAllowedAddress('203.0.114.1', ['203.0.113.0/24']), false)
    assert.equal(isAllowedAddress('', ['203.0.113.0/24']), false)
  })
})
