import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Model } from 'mongoose'
import { compareWithPlainMatcher, tryColumns } from '../../libs/store/test/columns.harness.ts'
import { columnModels } from '../../libs/store/test/columns.ts'
import { type Person, people, testStore } from '../../libs/store/test/store.ts'
import { counted, seed } from '../soak.ts'

/** Columns of contacts: filters beside a plain matcher, and searches while others write, rewrite and are killed. */
suite('columns', () => {
  let store: Awaited<ReturnType<typeof testStore>>['store']
  let drop: () => Promise<void>
  let model: Model<Person>
  before(async () => {
    ;({ store, drop } = await testStore())
    columnModels(store)
    model = await people(store)
  })
  after(() => drop())

  test('agree with a plain matcher', async t => {
    const report = await compareWithPlainMatcher({ filters: counted(1000, 1_000_000), seed })
    t.diagnostic(`${JSON.stringify(report)} (seed ${seed})`)
    assert.deepEqual(report.wrong, [])
  })

  test('are exact while others write, rewrite and are killed', async t => {
    const report = await tryColumns(store, model, { searches: counted(100, 20_000), kills: counted(2, 100), seed })
    t.diagnostic(`${JSON.stringify(report)} (seed ${seed})`)
    assert.deepEqual(report.wrong, [])
  })

  test('are not if writers do not note stale rows', async t => {
    const report = await tryColumns(store, model, { searches: 200, kills: 0, seed, withoutNotes: true })
    t.diagnostic(`${report.wrong.length} of ${report.searches} searches are wrong (seed ${seed})`)
    assert.notDeepEqual(report.wrong, [])
  })
})
