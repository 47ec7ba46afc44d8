import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import type { ImportUploadJson } from '@rollcall/protos/gen/import-v1.ts'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { parse } from 'csv-parse/sync'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { accounting, follow, importFile } from '../import/import-job.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { startStack, type TestStack } from '../stack.ts'

type Refusal = { message: string; path?: string }

const small = 'email,name\na@example.com,A\n'
const minutes = 60_000

describe('files', () => {
  let stack: TestStack
  let clockAheadMs = 0
  before(async () => {
    stack = await startStack({
      settings: organizationSettings,
      settingsOf: {
        import: { PENDING_UPLOADS_PER_ORGANIZATION: '3', PENDING_UPLOAD_BYTES_PER_ORGANIZATION: String(8 * 2 ** 20) },
      },
      now: () => Date.now() + clockAheadMs,
    })
  })
  after(() => stack.stop())

  const organization = async (attributes: Record<string, string> = {}): Promise<Api> =>
    (await makeToken(await newOrganization(stack, attributes))).api
  const upload = (api: Api, file = small) => api.upload<ImportUploadJson>('/api/audience/import/upload', file)
  /** Sends the start of a file and disconnects. */
  const abort = async ({ url, headers }: Api) => {
    const beginning = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    const sending = request(new URL('/api/audience/import/upload', url), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
    })
    sending.on('error', () => {})
    await new Promise<void>(resolve => sending.write(beginning + small.repeat(40_000), () => resolve()))
    const closed = new Promise(resolve => sending.once('close', resolve))
    sending.destroy()
    await closed
  }
  const start = <Body>(api: Api, importId: string, options: object = {}) =>
    api.post<Body>('/api/audience/import/start', { importId, mapping: { email: 'email', name: 'name' }, ...options })

  describe('finding 3: crafted uploads', () => {
    it('cost no more than plain ones of their length', async () => {
      const api = await organization()
      const columns = 4
      const fileOf = (cell: string) => {
        const head = Array.from({ length: columns }, (_, index) => `email${index}`).join(',')
        return `${head}\n${Array.from({ length: columns }, () => cell.slice(0, 30_000)).join(',')}\n`
      }
      const durationOf = async (file: string) => {
        const since = performance.now()
        await bodyOf(upload(api, file))
        return performance.now() - since
      }
      const plain = fileOf('plain text, of no interest; '.replaceAll(/[,;]/g, '').repeat(3_000))
      await durationOf(plain)
      const usual = await durationOf(plain)
      const crafted = await durationOf(fileOf(`'-${'1'.repeat(29_900)}x`))
      assert.ok(crafted < 20 * usual, `${Math.round(crafted)} ms instead of ${Math.round(usual)} ms`)
    })
  })

  describe('finding 12: what an organization has pending', () => {
    it('limits the uploads, and is free again when one is started', async () => {
      const api = await organization()
      const answers = await Promise.all(Array.from({ length: 8 }, () => upload(api)))
      const [accepted, refused] = [answers.filter(a => a.status === 200), answers.filter(a => a.status === 429)]
      assert.deepEqual([accepted.length, refused.length], [3, 5])
      assert.deepEqual(refused[0]!.body, {
        success: false,
        message: 'limit reached: 3 pending uploads per organization',
      })
      assert.ok(Number(refused[0]!.headers.get('retry-after')) > 0)
      const { jobId } = await bodyOf(start<{ jobId: string }>(api, accepted[0]!.body.importId))
      await bodyOf(upload(api))
      await follow(api, jobId)
      assert.equal((await upload(api)).status, 429)
      await bodyOf(upload(await organization()))
    })

    it('limits the bytes, also of concurrent uploads', async () => {
      const api = await organization()
      const large = `email,name\n${'a@example.com,A person of no interest\n'.repeat(2 ** 17)}` // 4.6 MiB
      const statuses = await Promise.all([upload(api, large), upload(api, large)])
      const accepted = statuses.filter(({ status }) => status === 200)
      assert.ok(accepted.length <= 1, `${accepted.length} files of 4.6 MiB where 8 MiB may be pending`)
      if (accepted.length === 0) await bodyOf(upload(api, large))
      assert.equal(
        statuses.find(({ status }) => status === 429)!.text,
        JSON.stringify({ success: false, message: 'limit reached: 8388608 bytes of pending uploads per organization' }),
      )
      await bodyOf(upload(api))
    })

    it('counts no upload that broke off', async () => {
      const api = await organization()
      for (let count = 0; count < 5; count++) await abort(api)
      const deadline = Date.now() + scaledTimeout(30_000)
      for (let pending = 0; pending < 3; ) {
        const { status, text } = await upload(api)
        if (status === 200) pending++
        else assert.ok(Date.now() < deadline, text)
      }
    })

    it('counts no upload that was refused or has expired', async () => {
      const api = await organization()
      for (let count = 0; count < 5; count++) await bodyOf(api.upload('/api/audience/import/upload', ''), 400)
      for (let count = 0; count < 3; count++) await bodyOf(upload(api))
      assert.equal((await upload(api)).status, 429)
      clockAheadMs += 32 * minutes
      await bodyOf(upload(api))
    })
  })

  describe('finding 16: formulas in an export', () => {
    const texts = ["x;=cmd|'/c calc'!A0;", 'x\t+1', 'x\n@sum(1)', '＝1+1', 'x;＋1', 'x;"=1', "x;'=1", 'a;-5']

    it('are not run by a spreadsheet with any separator, and are imported unchanged', async () => {
      const api = await organization({ note: 'string' })
      for (const [index, note] of texts.entries()) {
        const contact = { email: `p${index}@example.com`, attributes: { note } }
        await bodyOf(api.post('/api/audience', contact), 201)
      }
      const { text } = await api.get('/api/audience/export', { sort: { email: 1 } })
      for (const separator of [',', ';', '\t']) {
        const cells = parse(text, {
          bom: true,
          delimiter: separator,
          relaxColumnCount: true,
          relaxQuotes: true,
        }) as string[][]
        for (const cell of cells.flat()) assert.doesNotMatch(cell, /^[=+\-@＝＋－＠]/, separator)
      }
      const status = await importFile(api, text)
      assert.deepEqual(accounting(status), {
        total: texts.length,
        created: 0,
        updated: 0,
        unchanged: texts.length,
        skipped: 0,
        failed: 0,
      })
    })
  })

  describe('dates', () => {
    const wrong = ['2024-02-31', '2023-02-29', '2024-13-01', '2024-01-01T24:30:00Z', '2024-01-01T10:00:00+25:00']

    it('that are on no calendar are refused in bodies, filters and files alike', async () => {
      const api = await organization({ since: 'date' })
      for (const since of wrong) {
        const contact = { email: 'a@example.com', attributes: { since } }
        const body = await bodyOf(api.post<Refusal>('/api/audience', contact), 400)
        assert.equal(body.message, 'invalid field -> attributes.since: must be an ISO 8601 date', since)
        for (const field of ['createdAt', 'attributes.since']) {
          const { path } = await bodyOf(
            api.get<Refusal>('/api/audience', { filter: { [field]: { $gte: since } } }),
            400,
          )
          assert.equal(path, 'filter', `${field} ${since}`)
        }
        const token = await bodyOf(api.post<Refusal>('/api/tokens', { name: 'a', expiresAt: since }), 400)
        assert.equal(token.path, 'expiresAt')
        const { result } = await importFile(api, `email,name,since\na@example.com,A,${since}\n`)
        assert.equal(result.errors[0]!.code, 'invalid_attribute', since)
      }
    })
  })

  describe('an upload', () => {
    it('can be started until 30 minutes have passed', async () => {
      const api = await organization()
      const { importId } = await bodyOf(upload(api))
      clockAheadMs += 29 * minutes
      await bodyOf(start(api, importId, { dryRun: true }))
      clockAheadMs += minutes + 1_000
      assert.deepEqual(await bodyOf(start(api, importId), 400), {
        error: true,
        message: 'Import data expired. Please re-upload the CSV file.',
      })
    })
  })
})
