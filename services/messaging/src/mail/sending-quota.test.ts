import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../../test/context.ts'
import { takeQuota } from './sending-quota.ts'

let test: TestContext
before(async () => {
  test = await testContext()
})
after(() => test.stop())

const MINUTE_MS = 60_000
const noon = Date.parse('2026-06-01T12:00:00.000Z')

function organization(limits: { MAIL_PER_MINUTE: number; MAIL_PER_DAY: number }) {
  const tenant = test.context.collections.of(String(new Types.ObjectId()))
  return (wanted: number, now: number) => takeQuota(tenant, limits, wanted, () => now)
}

it('grants at most the limit in any 60 seconds', async () => {
  const take = organization({ MAIL_PER_MINUTE: 10, MAIL_PER_DAY: 0 })
  const granted: { at: number; count: number }[] = []
  for (let at = noon; at < noon + 5 * MINUTE_MS; at += 700) {
    const { granted: count, waitMs } = await take(3, at)
    assert.ok(count > 0 || (waitMs > 0 && waitMs <= 61_000), `waits ${waitMs} ms`)
    if (count > 0) granted.push({ at, count })
  }
  for (const { at: from } of granted) {
    const window = granted.filter(({ at }) => at >= from && at < from + MINUTE_MS)
    const sum = window.reduce((total, { count }) => total + count, 0)
    assert.ok(sum <= 10, `${sum} in the 60 s from ${from - noon} ms`)
  }
  assert.ok(granted.reduce((total, { count }) => total + count, 0) >= 40)
})

it('grants at most the limit of a day, until midnight in UTC', async () => {
  const take = organization({ MAIL_PER_MINUTE: 0, MAIL_PER_DAY: 5 })
  assert.deepEqual(await take(4, noon), { granted: 4, waitMs: 0 })
  assert.deepEqual(await take(4, noon + 1), { granted: 1, waitMs: 0 })
  assert.deepEqual(await take(1, noon + 12 * 3_600_000 - 500), { granted: 0, waitMs: 500 })
  assert.deepEqual(await take(9, noon + 12 * 3_600_000), { granted: 5, waitMs: 0 })
})

it('counts concurrent takers once each; without limits there are none', async () => {
  const take = organization({ MAIL_PER_MINUTE: 20, MAIL_PER_DAY: 0 })
  const grants = await Promise.all(Array.from({ length: 12 }, () => take(2, noon)))
  assert.equal(
    grants.reduce((sum, { granted }) => sum + granted, 0),
    20,
  )
  const free = organization({ MAIL_PER_MINUTE: 0, MAIL_PER_DAY: 0 })
  assert.deepEqual(await free(1_000_000, noon), { granted: 1_000_000, waitMs: 0 })
})
