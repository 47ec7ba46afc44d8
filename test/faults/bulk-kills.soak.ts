import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { seed } from '../soak.ts'
import { startWorld, summarize, type World } from './bulk-kills.harness.ts'

const kills = Number(process.env.COUNT ?? 50)
const size = { kills, contacts: Number(process.env.CONTACTS ?? 20_000), seed }

suite('a bulk job that is killed', () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world?.[Symbol.asyncDispose]())

  test('comes to the same as one that is left alone, and so does its undo', async t => {
    const report = await world.play(size)
    t.diagnostic(`${summarize(report)} (seed ${seed})`)
    assert.deepEqual(report.differences, [])
  })

  test('does not where a kill can cut a step in two', async t => {
    const report = await world.play({ ...size, kills: 2, isNaive: true })
    t.diagnostic(summarize(report))
    const texts = report.differences.join('\n')
    for (const kind of ['contacts', 'history', 'events']) assert.match(texts, new RegExp(`${kind}: [1-9]`))
  })
})
