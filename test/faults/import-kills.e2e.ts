import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { counted, isSoak, seed } from '../soak.ts'
import { startWorld, summarize, violationsIn, type World } from './import-kills.harness.ts'
import { withoutRecord } from './import-kills.wire.ts'

const kills = counted(5, 50)
/** Ten kills for each import of this many rows, and for the undo of the last. */
const size = { kills, imports: Math.ceil(kills / 10), rows: isSoak ? 20_000 : 5_000, seed }

suite('an import that is killed', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('comes to the same as one that is left alone', async t => {
    const report = await world.play(size)
    t.diagnostic(`${summarize(report)} (seed ${seed})`)
    assert.deepEqual(violationsIn(report), [])
    assert.ok(report.repeated > 0)
    assert.equal(report.kills, kills)
  })

  test('does not where batches leave no record', async t => {
    const naive = { kills: counted(1, 8), imports: 1, onlyUnknowing: true, variant: withoutRecord }
    const report = await world.play({ ...size, ...naive })
    t.diagnostic(summarize(report))
    assert.ok(report.repeated > 0)
    assert.ok(report.differences.length > 0)
  })
})
