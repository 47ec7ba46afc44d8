import assert from 'node:assert/strict'
import { it } from 'node:test'
import { grantsUsed, LEVELS, levelOf } from './usage.ts'

const use = (resource: string, action: 'read' | 'update', count: number) => ({ resource, action, count, lastAt: '' })

it('a role of what was used has exactly that', () => {
  const uses = [use('audience', 'update', 1), use('audience', 'read', 9), use('tokens', 'read', 0)]
  assert.deepEqual(grantsUsed(uses), { audience: ['read', 'update'] })
})

it('the heat grows with the count, and only never is cold', () => {
  assert.deepEqual(
    [0, 1, 10, 1000].map(count => levelOf(count, 1000)),
    [0, 1, 2, LEVELS],
  )
  assert.equal(levelOf(1, 1), LEVELS)
})
