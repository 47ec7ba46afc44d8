import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '@rollcall/testing/eventually'
import { newOrganization, testStore } from '../../test/store.ts'
import type { Store } from '../tenancy/connection.ts'
import { type Scope, scoped } from '../tenancy/scope.ts'
import { type Hold, holdSchema, placeHold, releaseHold, untilAllReleased, untilReleased } from './holds.ts'

describe('a hold', () => {
  let store: Store
  let drop: () => Promise<void>
  const organization = newOrganization()
  let holds: Scope<Hold>
  before(async () => {
    ;({ store, drop } = await testStore())
    holds = scoped(store.model('Hold', holdSchema), organization)
  })
  after(() => drop())

  it('lets who changed one of its keys wait until it is released', async () => {
    const id = await placeHold(holds, ['one', 'two'], 60_000)
    let isOver = false
    const waiting = untilReleased(holds, ['two', 'three']).then(() => {
      isOver = true
    })
    await untilReleased(holds, ['three']) // others do not wait
    await untilReleased(scoped(store.model('Hold', holdSchema), newOrganization()), ['one'])
    assert.equal(isOver, false)
    await releaseHold(holds, id)
    await waiting
  })

  it('lets who changed many records wait for those that exist, not for later ones', async t => {
    const asks = t.mock.method(holds, 'findOne') // after it has found the holds that exist
    const id = await placeHold(holds, ['one'], 60_000)
    let isOver = false
    const waiting = untilAllReleased(holds).then(() => {
      isOver = true
    })
    await untilAllReleased(scoped(store.model('Hold', holdSchema), newOrganization()))
    await eventually('the change waits', () => asks.mock.callCount() > 0)
    assert.equal(isOver, false)
    const later = await placeHold(holds, ['one'], 60_000)
    await releaseHold(holds, id)
    await waiting
    await releaseHold(holds, later)
  })

  it('ends by itself', async () => {
    const startedAt = Date.now()
    await placeHold(holds, ['left'], 100)
    await untilReleased(holds, ['left'])
    assert.ok(Date.now() - startedAt >= 100)
  })
})
