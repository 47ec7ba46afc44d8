import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { startOwnAudience, type TestAudience } from '../../services/audience/test/audience.ts'
import { counted, seed } from '../soak.ts'
import { compareWithDatabase, type OracleReport } from './columns-oracle.harness.ts'

const MAX_KILLS = 60
const FILTERS_PER_KILL = 500

/** Columns of contacts beside the database, while the service and others write. */
suite('columns of contacts', () => {
  let audience: TestAudience
  before(async () => {
    audience = await startOwnAudience()
  })
  after(() => audience?.stop())

  test('find what plain queries find, while others change, import, undo, rewrite and are killed', async t => {
    const filters = counted(1000, 1_000_000)
    const onProgress = ({ wrong, ...seen }: OracleReport) =>
      console.log(JSON.stringify({ at: new Date(), ...seen, wrong: wrong.length, last: wrong.at(-1) }))
    const kills = Math.min(MAX_KILLS, Math.ceil(filters / FILTERS_PER_KILL))
    const report = await compareWithDatabase(audience, { filters, kills, seed, onProgress })
    t.diagnostic(`${JSON.stringify({ ...report, wrong: report.wrong.slice(0, 20) })} (seed ${seed})`)
    assert.deepEqual(report.wrong, [])
  })

  test('do not if searches ignore which rows are stale', async t => {
    const report = await compareWithDatabase(audience, { filters: 1000, kills: 0, seed, ignoresStale: true })
    t.diagnostic(`${report.wrong.length} of ${report.filters} filters are wrong (seed ${seed})`)
    assert.notDeepEqual(report.wrong, [])
  })
})
