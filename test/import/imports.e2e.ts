import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { csvRow } from '@rollcall/csv'
import type { ImportUploadJson } from '@rollcall/protos/gen/import-v1.ts'
import { parse } from 'csv-parse/sync'
import { type Api, bodyOf, makeToken } from '../api.ts'
import type { TestStack } from '../stack.ts'
import { accounting, follow, importFile, startImport } from './import-job.ts'
import { newOrganization } from './organizations.ts'
import { startImportStack } from './shared-stack.ts'

type Contact = {
  id: string
  email: string
  name: string
  attributes: Record<string, unknown>
  tags: string[]
  unsubscribed: boolean
  blocked: boolean
  importJob: string | null
}
type Page<T> = { docs: T[]; totalDocs: number }
type Refusal = { message: string; path?: string }

describe('importing contacts', () => {
  let stack: TestStack
  before(async () => {
    stack = await startImportStack()
  })
  after(() => stack.stop())

  /** A token in a new organization with the attributes company, seats and since. */
  const organization = async (): Promise<Api> => {
    const owner = await newOrganization(stack, { company: 'string', seats: 'number', since: 'date' })
    return (await makeToken(owner)).api
  }
  const contact = async (api: Api, email: string): Promise<Contact> => {
    const { docs } = await bodyOf(api.get<Page<Contact>>('/api/audience', { filter: { email } }))
    assert.equal(docs.length, 1, `${docs.length} contacts have the email ${email}`)
    return docs[0]!
  }
  const count = async (api: Api) => (await bodyOf(api.get<Page<Contact>>('/api/audience'))).totalDocs

  describe('accounts for every row', () => {
    it('of a file with all that files have', async () => {
      const api = await organization()
      const lines = ['Email;Full name;Company;Seats;Since;Tags;Opted out']
      const rows = 1_000
      for (let row = 1; row <= rows; row++)
        lines.push(`person${row}@example.com;"Näme; ${row}\n""quoted"" 名";Firm ${row % 7};${row};2024-01-31;a|b;no`)
      lines[10] = 'not an address;x;;;;;'
      lines[20] = 'person20@example.com;x;;many;;;'
      lines[30] = ';x;;;;;'
      lines[40] = 'PERSON50@example.com;Wins not;;;;;'
      lines[51] = 'person51@example.com;x;;;;;;;surplus'
      lines.splice(60, 0, '', '   ')
      const upload = await bodyOf(
        api.upload<ImportUploadJson>('/api/audience/import/upload', `\uFEFF${lines.join('\r\n')}`),
      )
      assert.deepEqual(
        [upload.rowCount, upload.delimiter, upload.encoding, (upload.previewRows as object[]).length],
        [rows, ';', 'utf-8', 3],
      )
      assert.equal(upload.duplicateEmails, 1)
      assert.deepEqual(upload.suggestedMapping, {
        Email: 'email',
        'Full name': 'name',
        Company: 'company',
        Seats: 'seats',
        Since: 'since',
        Tags: 'tags',
        'Opted out': 'unsubscribed',
      })

      const start = { importId: upload.importId, mapping: upload.suggestedMapping, tags: ['imported'] }
      const { jobId } = await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', start))
      const again = await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', start))
      assert.equal(again.jobId, jobId)
      const status = await follow(api, jobId)
      assert.deepEqual(accounting(status), {
        total: rows,
        created: rows - 5,
        updated: 0,
        unchanged: 0,
        skipped: 1,
        failed: 4,
      })
      assert.equal(status.result.duplicatesInFile, 1)
      assert.deepEqual(
        status.result.errors.map(({ row, code }) => [row, code]),
        [
          [10, 'invalid_email'],
          [20, 'invalid_attribute'],
          [30, 'invalid_email'],
          [51, 'columns'],
        ],
      )
      assert.equal(await count(api), rows - 5)

      const found = await contact(api, 'person50@example.com')
      assert.equal(found.name, 'Näme; 50\n"quoted" 名')
      assert.deepEqual(found.attributes, { company: 'Firm 1', seats: 50, since: '2024-01-31T00:00:00.000Z' })
      assert.deepEqual([found.tags, found.importJob], [['a', 'b', 'imported'], jobId])
    })

    it('and allows to correct and upload what failed', async () => {
      const api = await organization()
      const first = await importFile(api, 'email,name,seats\na@example.com,=A,1\nb@example,B,2\nc@example.com,C,x\n')
      assert.deepEqual(accounting(first), { total: 3, created: 1, updated: 0, unchanged: 0, skipped: 0, failed: 2 })
      const { text, headers } = await api.get(first.result.errorsUrl)
      assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="import-errors.csv"/)
      const rows = parse(text, { bom: true, columns: true }) as Record<string, string>[]
      assert.deepEqual(
        rows.map(({ email, _row, _line, _code }) => [email, _row, _line, _code]),
        [
          ['b@example', '2', '3', 'invalid_email'],
          ['c@example.com', '3', '4', 'invalid_attribute'],
        ],
      )
      const second = await importFile(api, text.replace('b@example,', 'b@example.com,').replace(',x,', ',3,'))
      assert.deepEqual(accounting(second), { total: 2, created: 2, updated: 0, unchanged: 0, skipped: 0, failed: 0 })
    })

    it('and allows to repeat that with the same mapping, whatever the headers are', async () => {
      const api = await organization()
      const mapping = { '@email': 'email', "'=name": 'name', seats: 'seats' }
      const rows = ['a', 'b', 'c'].map((letter, index) => `${letter}@example,=Name,${index}\n`)
      let file = `@email,''=name,seats\n${rows.join('')}`
      for (const letter of ['a', 'b', 'c']) {
        const corrected = file.replace(`${letter}@example,`, `${letter}@example.com,`)
        const { result } = await importFile(api, corrected, { mapping })
        assert.deepEqual([result.created, result.failed], [1, result.total - 1])
        file = (await api.get(result.errorsUrl)).text
        const [head, ...left] = parse(file, { bom: true }) as string[][]
        assert.deepEqual(head, ["'@email", "''=name", 'seats', '_row', '_line', '_code', '_error', '_uncorrected'])
        assert.equal(left.length, result.failed)
      }
      assert.equal((await contact(api, 'c@example.com')).name, '=Name')
    })

    it('and imports no unreadable row before it is corrected', async () => {
      const api = await organization()
      const file = 'email,name,company\na@example.com,A,Doe, John\nb@example.com,B\0,\nc@example.com,"C" x,\nd@,D,\n'
      const first = await importFile(api, file)
      assert.deepEqual(
        first.result.errors.map(({ code, column, value }) => [code, column, value]),
        [
          ['columns', 'company', 'Doe, John'],
          ['nul', 'name', 'B\ufffd'],
          ['quote', 'name', '"C" x,'],
          ['invalid_email', 'email', 'd@'],
        ],
      )
      const errors = (await api.get(first.result.errorsUrl)).text.replace('d@,', 'd@example.com,')
      const second = await importFile(api, errors)
      assert.deepEqual(accounting(second), { total: 4, created: 1, updated: 0, unchanged: 0, skipped: 0, failed: 3 })
      assert.ok(second.result.errors.every(({ code }) => code === 'uncorrected'))

      const [head, left, ...rest] = parse((await api.get(second.result.errorsUrl)).text, { bom: true }) as string[][]
      assert.deepEqual([left?.[2], left?.at(-1), rest.length], ['Doe, John', 'Doe, John', 2])
      const corrected = left!.with(2, 'Doe').with(1, 'A, John')
      const third = await importFile(api, [head!, corrected, ...rest].map(csvRow).join(''))
      assert.deepEqual([third.result.created, third.result.failed], [1, 2])
      const { name, attributes } = await contact(api, 'a@example.com')
      assert.deepEqual([name, attributes], ['A, John', { company: 'Doe' }])
    })

    it('of an export, all of them unchanged', async () => {
      const api = await organization()
      const nasty = ['=1+1', "'quoted", '-5', '+cmd', '@x', 'a "b", c', 'line\nbreak', ' spaces ', '\\|pipe']
      for (const [index, text] of nasty.entries()) {
        const line = text.replace('\n', ' ') // a name and a tag are one line
        const body = {
          email: `n${index}@example.com`,
          name: line,
          attributes: { company: text, seats: -index },
          tags: [line.trim(), `t|${index}`],
          unsubscribed: index % 2 === 0,
        }
        await bodyOf(api.post('/api/audience', body), 201)
      }
      const { text } = await api.get('/api/audience/export')
      assert.doesNotMatch(text, /(^|,|")[=+@]/m)
      const status = await importFile(api, text)
      assert.deepEqual(accounting(status), {
        total: nasty.length,
        created: 0,
        updated: 0,
        unchanged: nasty.length,
        skipped: 0,
        failed: 0,
      })
    })
  })

  describe('meets contacts that are known', () => {
    it('by updating them, adding tags, and never clearing an opt-out or a block', async () => {
      const api = await organization()
      const { id } = await bodyOf(
        api.post<Contact>('/api/audience', {
          email: 'Known@example.com',
          name: 'Old',
          tags: ['old'],
          unsubscribed: true,
          attributes: { company: 'Acme' },
        }),
        201,
      )
      await bodyOf(api.patch(`/api/audience/${id}/block`))
      const status = await importFile(api, 'email,name,company,tags,unsubscribed\nknown@EXAMPLE.com,New,,new,no\n', {
        tags: ['batch'],
      })
      assert.deepEqual(accounting(status), { total: 1, created: 0, updated: 1, unchanged: 0, skipped: 0, failed: 0 })
      assert.equal(status.result.optOutsKept, 1)
      const after = await contact(api, 'known@example.com')
      assert.deepEqual(
        [after.email, after.name, after.tags, after.unsubscribed, after.blocked, after.attributes],
        ['Known@example.com', 'New', ['old', 'new', 'batch'], true, true, { company: 'Acme' }],
      )
    })

    it('by not changing them under skip', async () => {
      const api = await organization()
      const before = await bodyOf(api.post<Contact>('/api/audience', { email: 'known@example.com', name: 'Old' }), 201)
      const file = 'email,name\nKNOWN@example.com,New\nfirst@example.com,First\nfirst@example.com,Second\n'
      const status = await importFile(api, file, { duplicateStrategy: 'skip', tags: ['x'] })
      assert.deepEqual(accounting(status), { total: 3, created: 1, updated: 0, unchanged: 0, skipped: 2, failed: 0 })
      assert.deepEqual(await contact(api, 'known@example.com'), before)
      assert.equal((await contact(api, 'first@example.com')).name, 'First')
    })
  })

  describe('imports a valid row although another row of its email fails', () => {
    const cityNeeded = async (): Promise<Api> => {
      const owner = await newOrganization(stack)
      const attribute = { name: 'City', slug: 'city', type: 'string', required: true }
      await bodyOf(owner.post('/api/audience/attributes', attribute), 201)
      return owner
    }
    const far = Array.from({ length: 600 }, (_, index) => `far${index}@example.com,F,Rome`)
    const file = (...rows: string[]) => `email,name,city\n${rows.join('\n')}\n`

    for (const [strategy, rows] of [
      [
        'update',
        file('a@example.com,A,Oslo', 'A@example.com,A2,', 'b@example.com,B,Oslo', ...far, 'b@example.com,B2,'),
      ],
      ['skip', file('A@example.com,A2,', 'a@example.com,A,Oslo', 'b@example.com,B2,', ...far, 'b@example.com,B,Oslo')],
    ] as const) {
      it(`under ${strategy}`, async () => {
        const api = await cityNeeded()
        const status = await importFile(api, rows, { duplicateStrategy: strategy })
        assert.deepEqual(accounting(status), {
          total: 604,
          created: 602,
          updated: 0,
          unchanged: 0,
          skipped: 0,
          failed: 2,
        })
        assert.deepEqual(
          status.result.errors.map(({ field, code }) => [field, code]),
          [
            ['attributes.city', 'missing_field'],
            ['attributes.city', 'missing_field'],
          ],
        )
        const names = [(await contact(api, 'a@example.com')).name, (await contact(api, 'b@example.com')).name]
        assert.deepEqual(names, ['A', 'B'])
        const { text } = await api.get(status.result.errorsUrl)
        assert.equal(parse(text, { bom: true, columns: true }).length, 2)
      })
    }

    it('unless it is good for the contact that is there', async () => {
      const api = await cityNeeded()
      await bodyOf(
        api.post('/api/audience', { email: 'a@example.com', name: 'Old', attributes: { city: 'Bern' } }),
        201,
      )
      const status = await importFile(api, file('a@example.com,A,Oslo', 'A@example.com,A2,'))
      assert.deepEqual(accounting(status), { total: 2, created: 0, updated: 1, unchanged: 0, skipped: 1, failed: 0 })
      const { name, attributes } = await contact(api, 'a@example.com')
      assert.deepEqual([name, attributes], ['A2', { city: 'Bern' }])
    })
  })

  describe('refuses with 400', () => {
    const uploads: [what: string, file: string | Uint8Array<ArrayBuffer>, message: RegExp][] = [
      ['an empty file', '', /empty/],
      ['a file without data', 'email,name\n', /no data row/],
      ['headers that appear twice', 'email,name,email\na@example.com,A,b\n', /"email" appears twice/],
      ['a blank header', 'email,,name\na@example.com,,A\n', /column 2 is blank/],
      ['a workbook', new Uint8Array([0x50, 0x4b, 3, 4, 1, 2, 3]), /Excel workbook/],
      ['a field that is too long', `email,name\na@example.com,${'x'.repeat(70_000)}\n`, /longer than/],
      ['too many columns', `${Array.from({ length: 300 }, (_, index) => `c${index}`).join(',')}\n1\n`, /256/],
    ]
    for (const [what, file, message] of uploads) {
      it(what, async () => {
        const refused = await bodyOf((await organization()).upload<Refusal>('/api/audience/import/upload', file), 400)
        assert.match(refused.message, message)
      })
    }

    it('a form without the file, with a second one, or with another field', async () => {
      const api = await organization()
      const send = (...names: string[]) => {
        const form = new FormData()
        for (const name of names) form.append(name, new Blob(['email,name\na@example.com,A\n']), 'a.csv')
        return bodyOf(api.request<Refusal>('POST', '/api/audience/import/upload', { body: form }), 400)
      }
      assert.equal((await send()).message, 'missing field -> file')
      assert.equal((await send('file', 'file')).message, 'extra field -> file')
      assert.equal((await send('other', 'file')).message, 'extra field -> other')
    })

    it('a mapping that does not fit', async () => {
      const api = await organization()
      const { importId } = await bodyOf(
        api.upload<ImportUploadJson>('/api/audience/import/upload', 'email,name\na@example.com,A\n'),
      )
      const start = (mapping: object, more = {}) =>
        bodyOf(api.post<Refusal>('/api/audience/import/start', { importId, mapping, ...more }), 400)
      assert.deepEqual(await start({ email: 'email' }), {
        error: true,
        message: 'mapping must include email and name',
        path: 'mapping',
      })
      assert.equal((await start({ email: 'email', Nome: 'name' })).path, 'mapping.Nome')
      assert.equal((await start({ email: 'email', name: 'blocked' })).path, 'mapping.name')
      assert.equal((await start({ email: 'email', name: 'email' })).path, 'mapping.name')
      assert.equal(
        (await start({ email: 'email', name: 'name' }, { duplicateStrategy: 'merge' })).path,
        'duplicateStrategy',
      )
    })

    it('an upload that is unknown or of another organization', async () => {
      const [mine, other] = [await organization(), await organization()]
      const { importId } = await bodyOf(
        mine.upload<ImportUploadJson>('/api/audience/import/upload', 'email,name\na@example.com,A\n'),
      )
      for (const id of [importId, 'f'.repeat(24), 'nonsense']) {
        const refused = await bodyOf(
          other.post<Refusal>('/api/audience/import/start', {
            importId: id,
            mapping: { email: 'email', name: 'name' },
          }),
          400,
        )
        assert.equal(refused.message, 'Import data expired. Please re-upload the CSV file.')
      }
    })
  })

  it('answers 404 for a job that is unknown, malformed or of another organization', async () => {
    const [mine, other] = [await organization(), await organization()]
    const jobId = await startImport(mine, 'email,name\na@example.com,A\n')
    await follow(mine, jobId)
    for (const id of [jobId, 'f'.repeat(24), 'nonsense']) {
      for (const path of [`status/${id}`, `${id}/errors`]) {
        assert.equal(
          (await bodyOf(other.get<Refusal>(`/api/audience/import/${path}`), 404)).message,
          'import job not found',
        )
      }
    }
  })

  it('can be cancelled until it has finished', async () => {
    const api = await organization()
    const rows = Array.from({ length: 6_000 }, (_, index) => `c${index}@example.com,C ${index}`)
    const jobId = await startImport(api, `email,name\n${rows.join('\n')}\n`)
    await follow(api, jobId, ({ progress }) => progress > 0)
    await bodyOf(api.post(`/api/audience/import/${jobId}/cancel`))
    const status = await follow(api, jobId)
    assert.deepEqual([status.state, status.failedReason], ['failed', 'cancelled'])
    await bodyOf(api.post(`/api/audience/import/${jobId}/cancel`), 409)
    const { created } = status.result
    assert.ok(created < rows.length)
    assert.equal(await count(api), created)
    await importFile(api, 'email,name\nlater@example.com,L\n') // by then all earlier events have arrived
    assert.equal(await count(api), created + 1)
  })

  it('of several files at once never mixes them up', async () => {
    const apis = await Promise.all([organization(), organization(), organization()])
    const file = (name: string) =>
      `email,name\n${Array.from({ length: 1_000 }, (_, index) => `m${index}@example.com,${name} ${index}`).join('\n')}`
    const statuses = await Promise.all(apis.map((api, index) => importFile(api, file(`Owner ${index}`))))
    for (const [index, api] of apis.entries()) {
      assert.deepEqual(accounting(statuses[index]!), {
        total: 1_000,
        created: 1_000,
        updated: 0,
        unchanged: 0,
        skipped: 0,
        failed: 0,
      })
      assert.equal((await contact(api, 'm77@example.com')).name, `Owner ${index} 77`)
    }
  })
})
