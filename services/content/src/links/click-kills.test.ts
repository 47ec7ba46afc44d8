import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LinkJson } from '@rollcall/protos/gen/content-v1.ts'
import type { Client } from '@rollcall/rpc'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { jsonOf, startTestContent, type TestContent, testCaller } from '../../test/content.ts'

/** Processes killed; more of them in a soak. */
const kills = Number(process.env.SOAK_KILLS ?? 2)
const BATCH = 20
const LATE_MS = 300

describe('counting clicks under kill -9', () => {
  let content: TestContent
  let links: Client<'rollcall.content.v1.Links'>
  before(async () => {
    content = await startTestContent()
    links = content.client('rollcall.content.v1.Links')
  })
  after(() => content.stop())

  const me = testCaller()
  let visitor = 0
  const start = async (flushMs: number): Promise<ChildProcess> => {
    const child = new URL('../../test/clicks.child.ts', import.meta.url).pathname
    const counter = fork(child, [String(flushMs)], {
      env: content.environment,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    await once(counter, 'message')
    return counter
  }
  const note = async (counter: ChildProcess, { id }: LinkJson) => {
    const visitors = Array.from({ length: BATCH }, () => `192.0.2.${visitor++}`)
    counter.send({ link: id, organization: me.caller.organizationId, visitors })
    await once(counter, 'message')
  }
  const kill = async (counter: ChildProcess) => {
    counter.kill('SIGKILL')
    await once(counter, 'exit')
  }
  const clicksOf = async ({ id }: LinkJson) => (await jsonOf<LinkJson>(links.getLink({ id }, me))).clicks
  const counted = async (link: LinkJson, clicks: number, limitMs: number) => {
    const end = Date.now() + limitMs
    for (let found = 0; found < clicks; found = await clicksOf(link)) {
      assert.ok(Date.now() < end, `counted ${found} of ${clicks} clicks`)
      await sleep(10)
    }
  }
  /** Whatever is counted is counted everywhere: at the link, by day, by visitor, as events. */
  const assertConsistent = async ({ id }: LinkJson, clicks: number) => {
    const link = new Types.ObjectId(id)
    const days = await content.db.collection('clickdays').find({ link }).toArray()
    const byDay = days.flatMap(day => day.clicks as number[]).reduce((sum, count) => sum + count, 0)
    const visitors = await content.db.collection('visitors').countDocuments({ link })
    const events = (await content.eventsOf(id)).filter(({ type }) => type === 'link.clicked')
    assert.deepEqual([byDay, visitors, events.length], [clicks, clicks, clicks])
  }
  /** Kills a counter soon after clicks; those before must be counted. Returns how many were. */
  const round = async (flushMs: number, limitMs: number) => {
    const link = await jsonOf<LinkJson>(links.createLink({ url: 'https://example.com/' }, me))
    const counter = await start(flushMs)
    try {
      await note(counter, link)
      await counted(link, BATCH, limitMs)
      await note(counter, link)
      await sleep((visitor * 37) % LATE_MS) // so that kills hit other steps of a write each time
    } finally {
      await kill(counter)
    }
    const clicks = await clicksOf(link)
    assert.ok([BATCH, 2 * BATCH].includes(clicks), `${clicks} clicks`)
    await assertConsistent(link, clicks)
  }

  it('loses none but the latest, and counts none twice', async () => {
    for (let number = 0; number < kills; number++) await round(100, scaledTimeout(10_000))
  })

  it('loses clicks where they are counted at the end only', async () => {
    await assert.rejects(round(3_600_000, 1000), /counted 0 of 20 clicks/)
  })
})
