import assert from 'node:assert/strict'
import { it } from 'node:test'
import { isPublicAddress } from './public-address.ts'

it('addresses are public if the internet routes to them', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1b']) {
    assert.ok(isPublicAddress(address), address)
  }
  for (const address of ['127.0.0.1', '10.0.0.1', '192.0.2.1', '::1', '::ffff:8.8.8.8', '4000::1', 'nonsense', '']) {
    assert.ok(!isPublicAddress(address), address)
  }
})
