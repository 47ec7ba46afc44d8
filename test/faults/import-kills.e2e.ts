import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { play, summarize, violationsIn } from './import-kills.harness.ts'
import { withoutRecord } from './import-kills.wire.ts'

suite('an import that is killed', () => {
  test('comes to the same as one that is left alone', async t => {
    const report = await play({ kills: 6, imports: 2, rows: 6_000 })
    t.diagnostic(summarize(report))
    assert.deepEqual(violationsIn(report), [])
    assert.equal(report.kills, 6)
  })

  test('does not where batches leave no record, which the same kills show', async t => {
    const report = await play({ kills: 6, imports: 2, rows: 6_000, variant: withoutRecord })
    t.diagnostic(summarize(report))
    assert.ok(report.differences.length > 0)
  })
})
