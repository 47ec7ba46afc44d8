import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import { type TestContext, testContext } from '../test/context.ts'
import { countUse } from './usage.ts'

let test: TestContext
before(async () => {
  test = await testContext()
})
after(() => test.stop())

it('admits as many uses as the limit, also of concurrent ones, until the window ends', async () => {
  const { usageWindows } = test.context.collections.unscoped
  const use = (key: string) => countUse(usageWindows, key, { limit: 3, seconds: 2 })
  const all = await Promise.all(Array.from({ length: 12 }, () => use('one')))
  assert.equal(all.filter(seconds => seconds === undefined).length, 3)
  assert.ok(all.every(seconds => seconds === undefined || (seconds >= 1 && seconds <= 2)))
  assert.equal(await use('another'), undefined)
  await pause(2100)
  assert.equal(await use('one'), undefined)
})
