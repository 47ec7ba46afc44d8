import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { HttpBody } from '@rollcall/contract'
import { type CsvColumns, csvFile } from './csv-file.ts'

type Person = { name: string; age: number | null }

const columns: CsvColumns<Person> = [
  ['name', ({ name }) => name],
  ['age', ({ age }) => (age === null ? null : String(age))],
]
const HEADING = '\ufeffname,age\r\n'

async function bodiesOf(bodies: AsyncIterable<HttpBody>): Promise<string[]> {
  const texts: string[] = []
  for await (const { contentType, data } of bodies) {
    assert.equal(contentType, 'text/csv; charset=utf-8')
    texts.push(data.toString())
  }
  return texts
}

describe('a CSV file', () => {
  it('has its heading, and a guarded row for each record, one by one or in batches', async () => {
    const people = [
      { name: 'Kim', age: 30 },
      { name: '=1+1', age: null },
    ]
    async function* batches() {
      yield people.slice(0, 1)
      yield []
      yield people.slice(1)
    }
    const whole = [`${HEADING}Kim,30\r\n'=1+1,\r\n`]
    assert.deepEqual(await bodiesOf(csvFile(columns, batches())), whole)
    assert.deepEqual(await bodiesOf(csvFile(columns, people)), whole)
    assert.deepEqual(await bodiesOf(csvFile(columns, [])), [HEADING])
  })

  it('comes in bodies of 64 Ki characters, also of one large batch', async () => {
    async function* large() {
      yield Array.from({ length: 1000 }, (_, age) => ({ name: 'x'.repeat(1000), age }))
    }
    const bodies = await bodiesOf(csvFile(columns, large()))
    assert.ok(bodies.length > 10)
    for (const body of bodies) assert.ok(body.length < 64 * 1024 + 1100)
    assert.equal(bodies.join('').split('\r\n').length, 1002)
  })
})
