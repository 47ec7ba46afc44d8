import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { type ChipName, PERIODS, readChips, SOURCES, STATUSES, withChip } from './conditions.ts'
import { curlOf } from './curl.ts'

describe('the chips of the filter bar', () => {
  it('say what they have made of a filter', () => {
    const values: Record<ChipName, readonly string[]> = {
      status: STATUSES,
      tag: ['vip', 'a b'],
      source: SOURCES,
      created: PERIODS,
      importJob: ['c0ffee'.repeat(4)],
    }
    for (const [name, each] of Object.entries(values) as [ChipName, readonly string[]][]) {
      for (const value of each) {
        const filter = withChip({}, name, value)
        assert.deepEqual(readChips(filter), { chips: [{ name, value }], attributes: [], rest: [] })
      }
    }
  })

  it('replace what they said before, and leave the rest', () => {
    const blocked = withChip({ 'attributes.plan': 'pro', tags: 'vip' }, 'status', 'blocked')
    assert.deepEqual(withChip(blocked, 'status', 'subscribed'), {
      'attributes.plan': 'pro',
      tags: 'vip',
      unsubscribed: false,
      blocked: false,
    })
    assert.deepEqual(withChip(blocked, 'status', undefined), { 'attributes.plan': 'pro', tags: 'vip' })
    assert.deepEqual(readChips(blocked).attributes, ['attributes.plan'])
    assert.deepEqual(readChips(blocked).rest, [])
    const range = { createdAt: { $gte: 'now-30d', $lt: 'now-7d' } }
    assert.deepEqual(readChips(range), { chips: [], attributes: [], rest: ['createdAt'] })
  })
})

it('a filter becomes a command that a shell reads as it stands', () => {
  const filter = { name: { $regex: "^O'Brien $HOME" } }
  const command = curlOf(filter, 'http://localhost:8080').replace(/^curl .*--data-urlencode /, 'printf %s ')
  assert.equal(execFileSync('sh', ['-c', command], { encoding: 'utf8' }), `filter=${JSON.stringify(filter)}`)
})
