import assert from 'node:assert/strict'
import { it } from 'node:test'
import { UnsafeHost } from '@rollcall/egress'
import { checkPort } from './mail-ports.ts'

it('mail servers have only ports of mail, or any in a private network', () => {
  for (const port of [25, 465, 587, 2525]) assert.doesNotThrow(() => checkPort(port, { allowPrivate: false }))
  for (const port of [0, -1, 22, 80, 443, 6379, 27017, 65_536])
    assert.throws(() => checkPort(port, { allowPrivate: false }), UnsafeHost)
  assert.doesNotThrow(() => checkPort(40_000, { allowPrivate: true }))
})
