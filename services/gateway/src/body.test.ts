import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import fc from 'fast-check'
import { parseJson } from './body.ts'

describe('a JSON body', () => {
  it('is what JSON.parse makes of it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), text => assert.deepEqual(parseJson(Buffer.from(text)), JSON.parse(text))),
    )
  })

  it('is refused as a bad request, whatever else it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string().map(text => Buffer.from(text)),
        ),
        bytes => {
          try {
            parseJson(bytes)
          } catch (error) {
            assert.ok(error instanceof AppError && ['request.malformed_json', 'request.too_deep'].includes(error.code))
          }
        },
      ),
    )
  })

  it('may be nested a hundred levels deep', () => {
    const nested = (levels: number) => Buffer.from(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
    assert.ok(parseJson(nested(100)))
    assert.throws(() => parseJson(nested(101)), {
      code: 'request.too_deep',
      message: 'JSON is nested more than 100 levels deep',
    })
    const brackets = Buffer.from(`${'['.repeat(500_000)}${']'.repeat(500_000)}`)
    assert.throws(() => parseJson(brackets), { code: 'request.too_deep' })
  })

  it('may begin with a byte order mark', () => assert.deepEqual(parseJson(Buffer.from('\ufeff{"a":1}')), { a: 1 }))
})
