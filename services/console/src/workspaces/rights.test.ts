import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Role } from '@rollcall/sdk'
import { ACTIONS } from '../roles/matrix.ts'
import { rightsIn } from './rights.ts'

const keeper = { name: 'keeper', permissions: { workspaces: ['read', 'update'], users: ['read'] } } as unknown as Role
const member = { role: 'user' }

it('owners and admins of the organization manage every workspace', () => {
  for (const role of ['owner', 'admin'])
    assert.deepEqual(rightsIn({ role }, 'user', []), { role, actions: ACTIONS, isOwner: true })
})

it('others have the rights of their role in the workspace', () => {
  assert.deepEqual(rightsIn(member, 'user', []), { role: 'user', actions: ['read'], isOwner: false })
  assert.deepEqual(rightsIn(member, 'admin', []), { role: 'admin', actions: ACTIONS, isOwner: false })
  assert.deepEqual(rightsIn(member, 'owner', []), { role: 'owner', actions: ACTIONS, isOwner: true })
  assert.deepEqual(rightsIn(member, 'keeper', [keeper]).actions, ['read', 'update'])
})

it('nothing is refused as long as the role is unknown', () => {
  assert.deepEqual(rightsIn(member, 'keeper', []).actions, ACTIONS)
  assert.deepEqual(rightsIn(member, undefined, []).actions, ACTIONS)
})
