import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { explore, summarize, violationsIn } from './credential-cache.harness.ts'
import {
  fenced,
  naive,
  withoutConfirming,
  withoutDeleting,
  withoutMinding,
  withoutShutting,
} from './credential-cache.variants.ts'

const redisUrl = process.env.REDIS_CACHE_URL
assert.ok(redisUrl, 'REDIS_CACHE_URL names the Redis to test with')

suite('credential changes hold at once', () => {
  test('whatever is interleaved, lost, late, killed or forgotten', async t => {
    const report = await explore({ redisUrl, variant: fenced, interleavings: 2_000 })
    t.diagnostic(summarize('credential cache', report))
    assert.equal(violationsIn(report), 0, report.example ?? '')
    assert.ok(report.hits > 1_000 && report.changesAnswered > 1_000 && report.changesFailed > 1_000)
    assert.ok(report.changesWithoutMemory > 200)
  })

  test('not with a naive read-through, which the same interleavings catch', async t => {
    const report = await explore({ redisUrl, variant: naive, interleavings: 1_000 })
    t.diagnostic(summarize('naive read-through', report))
    assert.ok(report.stale > 0)
    assert.ok(report.expired > 0)
  })

  test('not without shutting the fences first', async t => {
    const report = await explore({ redisUrl, variant: withoutShutting, interleavings: 3_000, untilViolation: true })
    t.diagnostic(summarize('without shutting', report))
    assert.ok(report.overtaken > 0)
  })

  test('not where a replaced primary fills the cache', async t => {
    const report = await explore({ redisUrl, variant: withoutConfirming, interleavings: 3_000, untilViolation: true })
    t.diagnostic(summarize('without confirming', report))
    assert.ok(report.stale + report.overtaken > 0)
  })

  test('not where Redis has no memory and fences are not deleted: the change fails', async t => {
    const report = await explore({ redisUrl, variant: withoutDeleting, interleavings: 1_000, untilViolation: true })
    t.diagnostic(summarize('without deleting', report))
    assert.ok(report.denied > 0)
  })

  test('not where Redis has no memory and changes do not mind', async t => {
    const report = await explore({ redisUrl, variant: withoutMinding, interleavings: 3_000, untilViolation: true })
    t.diagnostic(summarize('without minding', report))
    assert.ok(report.stale + report.overtaken > 0)
  })
})
