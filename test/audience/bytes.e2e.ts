import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { csvRow, joinTags } from '@rollcall/csv'
import { mongo, Types } from 'mongoose'
import { publicContact } from '../../services/audience/src/contacts/contact.model.ts'
import { startOwnAudience, type TestAudience, testCaller, textOf } from '../../services/audience/test/audience.ts'
import { oddContact } from '../faults/columns-oracle.filters.ts'

const { Long, Decimal128, Binary, Double } = mongo.BSON
/** Values that BSON and JSON write differently, and those that only the driver reads. */
const kinds: unknown[] = [
  Long.fromString('9007199254740993'),
  new Long(5),
  Decimal128.fromString('1.5'),
  new Binary(Buffer.from('bytes')),
  new Double(-0),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  new Date(8.64e15),
  new Date('0000-01-01'),
  '\ud800 \u2028 \u0000 "\\',
  'x'.repeat(100_000),
  ['a|b', 'c\\d', ''],
  { 7: 'first', b: { c: [null, { d: 1 }] }, 1: 'before' },
  Object.fromEntries([['__proto__', 'own']]),
  '=1+1',
  '-5',
  "'=x",
  'Ünï, "quoted"\r\nline',
]
const CONTACTS = 1500
const LIMIT = 100
const slugs = ['city', 'score', 'since', 'active', 'any', 'kind']

describe('contacts as bytes', () => {
  let audience: TestAudience
  const me = testCaller()
  const organization = new Types.ObjectId(me.caller.organizationId)
  /** As the driver reads them, newest first. */
  let stored: Record<string, unknown>[]

  before(async () => {
    audience = await startOwnAudience()
    for (const slug of slugs)
      await audience.attributes.createAttribute({ name: slug, slug, type: 'string', options: [] }, me)
    const at = new Date()
    const contacts = Array.from({ length: CONTACTS }, (_, number) => {
      const { attributes, ...rest } = oddContact(number)
      if (Array.isArray(attributes.any)) delete attributes.any // a cell holds an array of texts only
      const kind = kinds[number % kinds.length]
      const email = `contact${number}@example.com`
      return {
        organization,
        email,
        emailKey: email,
        ...rest,
        attributes: { ...attributes, ...(number % 4 > 0 && { kind }) },
        ...(number % 5 === 0 && { name: typeof kind === 'string' ? kind.slice(0, 1000) : '' }),
        source: 'api',
        createdBy: { kind: 'user', id: 'u', name: 'User One' },
        position: number + 1,
        createdAt: new Date(at.getTime() + number),
        updatedAt: new Date(number * 1e9),
      }
    })
    await audience.db.collection('contacts').insertMany(contacts)
    const register = { organization, name: 'contacts', last: CONTACTS, total: CONTACTS, changes: 1, at, holes: {} }
    await audience.db.collection('positions').insertOne(register)
    stored = await audience.db.collection('contacts').find({ organization }).sort({ position: -1 }).toArray()
  })
  after(() => audience?.stop())

  const shown = () => stored.map(contact => publicContact(contact))
  const listed = (list: object) => textOf(audience.contacts.listContacts({ list }, me))

  it('are the JSON of objects on every page', async () => {
    const docs = shown()
    for (let page = 1; page <= Math.ceil(CONTACTS / LIMIT); page++) {
      const text = await listed({ page, limit: LIMIT })
      const expected = { ...JSON.parse(text), docs: docs.slice((page - 1) * LIMIT, page * LIMIT) }
      assert.equal(text, JSON.stringify(expected))
    }
  })

  it('are the JSON of objects without pagination, in both orders', async () => {
    const docs = shown()
    assert.equal(await listed({ pagination: false }), JSON.stringify(docs))
    assert.equal(await listed({ pagination: false, sort: '{"createdAt":1}' }), JSON.stringify(docs.toReversed()))
  })

  it('are the CSV of objects', async () => {
    const columns = ['email', 'name', 'unsubscribed', 'blocked', 'tags', 'createdAt']
    const textOfValue = (value: unknown): string => {
      if (value === undefined) return ''
      if (value instanceof Date) return value.toISOString()
      return Array.isArray(value) ? joinTags(value) : String(value)
    }
    const lines = stored.map(contact => {
      const attributes = contact.attributes as Record<string, unknown>
      const values = slugs.map(slug => (Object.hasOwn(attributes, slug) ? attributes[slug] : undefined))
      return csvRow([...columns.map(name => contact[name]), ...values].map(textOfValue))
    })
    const text = await textOf(audience.contacts.exportContacts({}, me))
    assert.equal(text, `\ufeff${csvRow([...columns, ...slugs])}${lines.join('')}`)
  })
})
