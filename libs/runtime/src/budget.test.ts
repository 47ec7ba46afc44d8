import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBudget } from './budget.ts'

describe('a budget', () => {
  const evicted: string[] = []
  const holderOf = (budget: ReturnType<typeof createBudget>) => (name: string, key: string, amount: number) => {
    const hold = budget.hold(key, () => evicted.push(name))
    return { hold, refusal: hold.resize(amount) }
  }

  it('gives out no more than there is, in all and for a key', () => {
    const budget = createBudget({ total: 10, share: 6 })
    const take = holderOf(budget)
    const first = take('first', 'a', 4)
    assert.equal(take('second', 'a', 3).refusal, 'share')
    assert.equal(take('third', 'b', 6).refusal, undefined)
    assert.equal(take('fourth', 'c', 1).refusal, 'total')
    first.hold.release()
    first.hold.release()
    assert.equal(budget.used, 6)
    assert.equal(take('fifth', 'a', 4).refusal, undefined)
    assert.deepEqual(evicted.splice(0), [])
  })

  it('takes from those that have been idle longest, and from nobody that is not idle', () => {
    const budget = createBudget({ total: 10, idleMs: 0 })
    const take = holderOf(budget)
    const [moving, idle, pinned] = ['moving', 'idle', 'pinned'].map(name => take(name, name, 3).hold)
    moving!.touch()
    pinned!.pin()
    assert.equal(take('new', 'n', 4).refusal, undefined)
    assert.deepEqual(evicted.splice(0), ['idle'])
    assert.equal(budget.used, 10)
    assert.equal(idle!.resize(1), 'total', 'what was evicted holds nothing any more')
    assert.equal(take('too large', 'n', 11).refusal, 'total')
    assert.equal(budget.used, 10)
    assert.equal(take('large', 'n', 7).refusal, undefined)
    assert.deepEqual(evicted.splice(0), ['moving', 'new'])
  })

  it('lets a holder be evicted only after its idle time', () => {
    const budget = createBudget({ total: 10, idleMs: 60_000 })
    const take = holderOf(budget)
    take('first', 'a', 10)
    assert.equal(take('second', 'b', 1).refusal, 'total')
    assert.deepEqual(evicted, [])
  })

  it('takes from a larger holder for a smaller one at once where it favours small ones', () => {
    const budget = createBudget({ total: 10, idleMs: 60_000, favoursSmall: true })
    const take = holderOf(budget)
    take('large', 'a', 6)
    take('small', 'a', 4)
    assert.equal(take('as large', 'b', 6).refusal, 'total')
    assert.equal(take('smaller', 'b', 5).refusal, undefined)
    assert.deepEqual(evicted.splice(0), ['large'])
  })
})
