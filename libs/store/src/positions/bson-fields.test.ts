import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { mongo, Types } from 'mongoose'
import { documentReader } from './bson-fields.ts'

const { BSON } = mongo

it('reads the fields of a document as the library does', () => {
  const scalar = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true }),
    fc.constant(new Types.ObjectId('0123456789abcdef01234567')),
    fc.constant(new BSON.Long(1, 1)),
    fc.constant(new BSON.Binary(Buffer.from('bytes'))),
  )
  const key = fc.stringMatching(/^[a-z]{1,8}$/)
  const value = fc.oneof(scalar, fc.array(scalar), fc.dictionary(key, fc.oneof(scalar, fc.array(scalar))))
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.array(key), (document, others) => {
      const names = [...Object.keys(document).filter((_, index) => index % 2 === 0), ...others]
      const bytes = BSON.serialize(document)
      const whole = BSON.deserialize(bytes)
      assert.deepEqual(documentReader()(bytes), whole)
      const read = documentReader<Record<string, unknown>>(names)(bytes)
      for (const name of names) assert.deepEqual(read[name], whole[name], name)
    }),
  )
})

it('reads nothing but what is wanted', () => {
  const bytes = BSON.serialize({ a: 1, b: { c: 'ä€😀' }, d: ['x', true] })
  assert.deepEqual(documentReader(['b', 'd', 'e'])(bytes), { b: { c: 'ä€😀' }, d: ['x', true] })
})
