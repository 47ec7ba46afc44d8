import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startWorld, summarize, violationsIn, type World } from './import-kills.harness.ts'
import { withoutRecord } from './import-kills.wire.ts'

const size = { kills: 4, imports: 1, rows: 5_000 }

suite('an import that is killed', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('comes to the same as one that is left alone', async t => {
    const report = await world.play(size)
    t.diagnostic(summarize(report))
    assert.deepEqual(violationsIn(report), [])
    assert.equal(report.kills, size.kills)
  })

  test('does not where batches leave no record, which the same kills show', async t => {
    const report = await world.play({ ...size, variant: withoutRecord })
    t.diagnostic(summarize(report))
    assert.ok(report.differences.length > 0)
  })
})
