import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { counted, isSoak, seed } from '../soak.ts'
import { startWorld, summarize, violationsIn, type World } from './mailing-kills.harness.ts'

const kills = counted(2, 40)
const size = { kills, recipients: isSoak ? 6_000 : 300, seed }

suite('a campaign whose sender is killed', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('reaches everyone at most once, and says whom it may not have reached', async t => {
    const report = await world.play(size)
    t.diagnostic(`${summarize(report)} (seed ${seed})`)
    assert.deepEqual(violationsIn(report), [])
    assert.equal(report.kills, kills)
  })

  test('reaches some twice where interrupted mails are sent again', async t => {
    const report = await world.play({ ...size, recipients: 100, kills: counted(1, 4), isNaive: true })
    t.diagnostic(summarize(report))
    assert.ok(report.twice > 0)
    assert.ok(violationsIn(report).length > 0)
  })
})
