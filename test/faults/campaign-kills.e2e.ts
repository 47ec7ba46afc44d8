import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { counted, isSoak, seed } from '../soak.ts'
import { play, summarize, violationsIn } from './campaign-kills.harness.ts'

/** M2 of the goals. */
const kills = counted(3, 50)
const recipients = isSoak ? 20_000 : 300
const timeout = scaledTimeout(isSoak ? 3_600_000 : 180_000)

test('a campaign whose services and Redis are killed reaches everyone at most once', { timeout }, async t => {
  const report = await play({ kills, recipients, seed })
  t.diagnostic(`${summarize(report)} (seed ${seed})`)
  assert.deepEqual(violationsIn(report), [])
})

test('and some twice where interrupted mails are sent again', { timeout }, async t => {
  // All kills hit the sender: the others interrupt no mail.
  const report = await play({ kills: 2, recipients: 150, seed, isNaive: true, victims: ['messaging'] })
  t.diagnostic(summarize(report))
  assert.ok(report.twice > 0)
})
