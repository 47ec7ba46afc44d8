import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { mongo, Types } from 'mongoose'
import { documentReader } from '../positions/bson-fields.ts'
import { joined } from '../tenancy/raw-records.ts'
import type { FieldTable } from './fields.ts'
import { presenter } from './present.ts'
import { recordChunks } from './record-chunks.ts'

const { BSON } = mongo
const fields: FieldTable = { name: 'string', tags: 'string[]', by: 'object', moved: { type: 'date', path: 'stored' } }
const present = presenter(fields)

/** What the way of objects makes of documents. */
const expected = (documents: Uint8Array[]) => documents.map(document => present(documentReader<object>()(document)))

function written(documents: Uint8Array[], { writer } = present): Buffer[] {
  return [...recordChunks(joined(documents), writer)]
}

/** Compares texts, for the same keys in the same order. */
function check(documents: Uint8Array[]): void {
  const text = Buffer.concat(written(documents)).toString()
  assert.equal(text && `[${text.slice(1)}]`, documents.length > 0 ? JSON.stringify(expected(documents)) : '')
}

const scalar = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\0', '\n', '\u001f', '\u007f', '\u2028', 'é', '😀', '\ud800') }),
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, 1e21, -1e-7, 2 ** 31, 2 ** 53),
  fc.boolean(),
  fc.constant(null),
  fc.date(),
  fc.constantFrom(new Date(-1), new Date(8.64e15), new Date(-8.64e15), new Date('0000-01-01')),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map(bytes => new Types.ObjectId(bytes)),
  fc.constant(new BSON.Long(1, 1)),
  fc.constant(new BSON.Binary(Buffer.from('bytes'))),
  fc.constant(BSON.Decimal128.fromString('1.5')),
)
const key = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'é', '"', '7') }), fc.constant('__proto__'))
const value = fc.oneof(scalar, fc.array(scalar), fc.dictionary(key, fc.oneof(scalar, fc.array(scalar))))
const document = fc
  .dictionary(fc.constantFrom('name', 'tags', 'by', 'stored', 'moved', 'hidden', 'createdAt', 'updatedAt'), value)
  .map(rest => BSON.serialize({ _id: new Types.ObjectId(), ...rest }))

describe('records from BSON', () => {
  it('are the JSON that the way of objects makes, whatever they hold', () => {
    fc.assert(fc.property(fc.array(document, { maxLength: 5 }), check), { numRuns: 500 })
  })

  it('are found by the names of their fields, in any order of them', () => {
    const _id = new Types.ObjectId()
    check(
      [{ name: 'a', tags: [] }, { tags: ['b'], name: 'b' }, {}, { name: 'c' }].map(rest =>
        BSON.serialize({ ...rest, _id }),
      ),
    )
  })

  it('may have ids of other kinds', () => {
    check([BSON.serialize({ _id: 'text', name: 'a' }), BSON.serialize({ _id: 7 }), BSON.serialize({ name: 'none' })])
  })

  it('may have fields that are stored inside of others', () => {
    const nested = presenter({ name: 'string', at: { type: 'date', path: 'factor.at' } })
    const at = new Date(0)
    const factors = [
      { factor: { at, secret: 'hidden' } },
      { factor: { at: null } },
      { factor: null },
      { factor: {} },
      {},
    ]
    const documents = factors.map(rest => BSON.serialize({ _id: new Types.ObjectId(), name: 'a', ...rest }))
    const records = JSON.parse(`[${Buffer.concat(written(documents, nested)).toString().slice(1)}]`)
    assert.deepEqual(
      records.map(({ _id, id, ...rest }: object & Record<string, unknown>) => rest),
      [at.toISOString(), null, null].map(each => ({ name: 'a', at: each })).concat(Array(2).fill({ name: 'a' })),
    )
  })

  it('come in chunks of about 64 KiB, large ones by themselves', () => {
    const name = 'x\u0001'.repeat(1000)
    const small = Array.from({ length: 200 }, () => BSON.serialize({ _id: new Types.ObjectId(), name }))
    const large = BSON.serialize({ _id: new Types.ObjectId(), name: '\u0001'.repeat(500_000) })
    const documents = [...small, large, ...small]
    check(documents)
    const sizes = written(documents).map(({ length }) => length)
    assert.equal(sizes.filter(size => size > 80 * 1024).length, 1)
    assert.ok(sizes.length < 60)
  })
})
