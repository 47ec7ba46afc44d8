import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { csvRow, joinTags } from '@rollcall/csv'
import type { Caller } from '@rollcall/rpc'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { mongo, Types } from 'mongoose'
import { startTestAudience, type TestAudience, testCaller, textOf } from '../../test/audience.ts'
import type { NewContact } from './contact.model.ts'
import { contactsAsCsv } from './contact-csv.ts'

type Me = { caller: Caller }

describe('contacts as CSV', () => {
  let audience: TestAudience
  const me = testCaller()
  const define = (slug: string, type: 'string' | 'number' | 'boolean' | 'date' | 'enum', options: string[] = []) =>
    audience.attributes.createAttribute({ name: slug, slug, type, options }, me)
  const exported = (query: { filter?: string; sort?: string } = {}, who: Me = me) =>
    textOf(audience.contacts.exportContacts(query, who))
  const recordsOf = (text: string): Record<string, string>[] => parse(text, { bom: true, columns: true })
  const create = (
    email: string,
    rest: { name?: string; attributes?: Record<string, string | number | boolean>; tags?: string[] },
  ) => {
    const { attributes = {}, tags = [], ...others } = rest
    return audience.contacts.createContact({ email, tags, attributes, ...others }, me)
  }

  before(async () => {
    audience = await startTestAudience()
    await define('note', 'string')
    await define('age', 'number')
    await define('vip', 'boolean')
    await define('since', 'date')
    await define('plan', 'enum', ['free', 'paid'])
    await create('a@example.com', { name: 'Ünï, "quoted"\r\nline', tags: ['a|b', 'c\\d'], attributes: { note: ';' } })
    await create('b@example.com', { name: '=1+1', attributes: { note: '-5', age: -5.5, vip: false } })
    await create('c@example.com', { attributes: { since: '2024-05-01', plan: 'paid', note: "'=x", age: 1e21 } })
  })
  after(() => audience.stop())

  it('has a byte order mark, CRLF, and a column for each attribute', async () => {
    const text = await exported()
    const header = 'email,name,unsubscribed,blocked,tags,createdAt,note,age,vip,since,plan'
    assert.ok(text.startsWith(`\ufeff${header}\r\n`))
    assert.ok(text.endsWith('\r\n'))
  })

  it('gives back every value, formulas guarded', async () => {
    const records = recordsOf(await exported({ sort: '{"email":1}' })).map(({ createdAt: _, ...rest }) => rest)
    const blank = { unsubscribed: 'false', blocked: 'false', tags: '', note: '', age: '', vip: '', since: '', plan: '' }
    assert.deepEqual(records, [
      { ...blank, email: 'a@example.com', name: 'Ünï, "quoted"\r\nline', tags: 'a\\|b|c\\\\d', note: ';' },
      { ...blank, email: 'b@example.com', name: "'=1+1", note: '-5', age: '-5.5', vip: 'false' },
      {
        ...blank,
        email: 'c@example.com',
        name: '',
        note: "''=x",
        age: '1e+21',
        since: '2024-05-01T00:00:00.000Z',
        plan: 'paid',
      },
    ])
  })

  it('honours filter and sort as the list does', async () => {
    const emails = async (query: object) => recordsOf(await exported(query)).map(({ email }) => email)
    assert.deepEqual(await emails({}), ['c@example.com', 'b@example.com', 'a@example.com'])
    assert.deepEqual(await emails({ filter: '{"attributes.age":{"$lt":0}}' }), ['b@example.com'])
    assert.deepEqual(await emails({ sort: '{"name":-1}' }), ['a@example.com', 'b@example.com', 'c@example.com'])
    await assert.rejects(exported({ filter: '{"emailKey":"x"}' }), { code: 'request.invalid_field', path: 'filter' })
    await assert.rejects(exported({ sort: '{"name":2}' }), { code: 'request.invalid_field', path: 'sort' })
  })

  it('shows nothing of another organization', async () => {
    assert.equal(await exported({}, testCaller()), '\ufeffemail,name,unsubscribed,blocked,tags,createdAt\r\n')
  })

  it('comes in pieces, all of it and each contact once', async () => {
    const many = testCaller()
    const longTags = Array.from({ length: 7 }, (_, index) => String(index).repeat(100))
    const rows = Array.from({ length: 500 }, (_, index) => ({
      row: index + 1,
      email: `c${index}@example.com`,
      name: '',
      attributes: {},
      tags: longTags,
      clearTags: false,
    }))
    const job = { jobId: 'a'.repeat(24), number: 0, duplicateStrategy: 'update' }
    await audience.batches.applyBatch({ ...job, tags: [], listIds: [], rows }, many)
    const pieces: Buffer[] = []
    for await (const { data, contentType } of audience.contacts.exportContacts({}, many)) {
      assert.equal(contentType, 'text/csv; charset=utf-8')
      pieces.push(data)
    }
    assert.ok(pieces.length > 4)
    assert.ok(pieces.every(piece => piece.length < 80 * 1024))
    const emails = recordsOf(Buffer.concat(pieces).toString()).map(({ email }) => email)
    assert.deepEqual(emails, rows.map(({ email }) => email).reverse())
  })

  it('is what objects would give, whatever a contact holds', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom(...'\'=+-@\t\r\n01.eE|\\,"; aé＝\ufeff\u00a0'), maxLength: 8 }),
    )
    const value = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.date({ noInvalidDate: true }))
    const slugs = ['note', 'age', 'toString']
    const contact = fc.record({
      email: text,
      name: text,
      unsubscribed: fc.boolean(),
      blocked: fc.boolean(),
      tags: fc.array(text, { maxLength: 4 }),
      createdAt: fc.date({ noInvalidDate: true }),
      attributes: fc.dictionary(fc.constantFrom(...slugs, 'gone'), value),
    })
    const lineOf = ({
      email,
      name,
      unsubscribed,
      blocked,
      tags,
      createdAt,
      attributes,
    }: Omit<NewContact, 'attributes'> & { createdAt: Date; attributes: Record<string, unknown> }) => {
      const textOf = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value))
      const values = slugs.map(slug => (Object.hasOwn(attributes, slug) ? textOf(attributes[slug]) : ''))
      return csvRow([email, name, String(unsubscribed), String(blocked), joinTags(tags), textOf(createdAt), ...values])
    }
    const definitions = slugs.map(slug => ({ slug, type: 'string' as const, options: [], required: false }))
    const check = async (contacts: Record<string, unknown>[]) => {
      const documents = contacts.map(contact => mongo.BSON.serialize(contact))
      const bytes = Buffer.concat(documents)
      const starts = documents.map((_, index) => Buffer.concat(documents.slice(0, index)).length)
      const batches = async function* () {
        yield { bytes, starts }
      }
      let csv = ''
      for await (const { data } of contactsAsCsv(batches(), definitions)) csv += data.toString()
      const stored = documents.map(document => mongo.BSON.deserialize(document) as Parameters<typeof lineOf>[0])
      assert.equal(csv.slice(csv.indexOf('\n') + 1), stored.map(lineOf).join(''))
    }
    await fc.assert(fc.asyncProperty(fc.array(contact, { maxLength: 5 }), check), { numRuns: 500 })
    const [some] = fc.sample(contact, 1)
    const { Long } = mongo.BSON
    await check([{ ...some, attributes: { note: Long.MAX_VALUE, age: new Types.ObjectId() } }])
    await check([{ ...some, attributes: { note: Long.fromString('9007199254740993'), age: new Long(5) } }])
  })

  it('offers a sample with a column for everything that can be imported', async () => {
    const { data } = await audience.contacts.getImportSample({}, me)
    const records = recordsOf(data.toString())
    assert.deepEqual(records, [
      {
        email: 'contact.one@example.com',
        name: 'Contact One',
        tags: 'newsletter|customer',
        unsubscribed: 'false',
        note: 'Text',
        age: '42',
        vip: 'true',
        since: '2025-01-31',
        plan: 'free',
      },
    ])
  })
})
