import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { serviceCaller } from '@rollcall/rpc'
import { type Harness, startHarness } from '../../test/identity.ts'

let harness: Harness

before(async () => {
  harness = await startHarness()
})
after(() => harness?.stop())

describe('the directory', () => {
  it('knows the accounts of the organization that asks, and leaves others out', async () => {
    const owner = await harness.register()
    const other = await harness.addPerson(owner.organizationId, 'user')
    const stranger = await harness.register()
    const directory = harness.client('rollcall.identity.v1.Directory')
    const ids = [owner.userId, other.userId, stranger.userId, 'f'.repeat(24)]
    const { users } = await directory.findUsers({ ids }, { caller: serviceCaller('messaging', owner.organizationId) })
    assert.deepEqual(new Set(users.map(({ id }) => id)), new Set([owner.userId, other.userId]))
    const { email, role, blocked } = users.find(({ id }) => id === other.userId)!
    assert.deepEqual({ email, role, blocked }, { email: other.email, role: 'user', blocked: false })
  })
})
