import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createDecoder, damageOf } from './decode.ts'
import { type Encoding, singleByteEncodings } from './model.ts'

const encodings = fc.constantFrom<Encoding>('utf-8', 'utf-16le', 'utf-16be', ...singleByteEncodings)
const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x0a, 0x41, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0))
const bytes = fc.array(byte, { maxLength: 200 }).map(list => Buffer.from(list))
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })

/** Decodes bytes in pieces of these sizes. */
function decodeInPieces(encoding: Encoding, bytes: Buffer, sizes: readonly number[]): string[] {
  const { decode, end } = createDecoder(encoding)
  const texts: string[] = []
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length]!
    texts.push(decode(bytes.subarray(at, at + size)))
    at += size
  }
  return [...texts, end()]
}

describe('createDecoder', () => {
  it('decodes text of every kind', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), sizes, (text, sizes) => {
        const utf16 = Buffer.from(text, 'utf16le')
        assert.equal(decodeInPieces('utf-8', Buffer.from(text), sizes).join(''), text)
        assert.equal(decodeInPieces('utf-16le', utf16, sizes).join(''), text)
        assert.equal(decodeInPieces('utf-16be', Buffer.from(utf16).swap16(), sizes).join(''), text)
      }),
      { numRuns: 1000 },
    ))

  it('accounts for every byte, valid or not, and never splits a pair of surrogates', () =>
    fc.assert(
      fc.property(encodings, bytes, sizes, (encoding, bytes, sizes) => {
        const texts = decodeInPieces(encoding, bytes, sizes)
        const { byteLength } = createDecoder(encoding)
        const halves = encoding.startsWith('utf-16') ? bytes.length % 2 : 0
        assert.equal(
          texts.map(byteLength).reduce((a, b) => a + b),
          bytes.length + halves,
        )
        assert.equal(
          texts.map(damageOf).reduce((a, b) => a + b),
          damageOf(texts.join('')),
        )
        assert.deepEqual(texts.join(''), decodeInPieces(encoding, bytes, [bytes.length + 1]).join(''))
      }),
      { numRuns: 3000 },
    ))

  it('agrees with TextDecoder on what is valid, and on its text', () =>
    fc.assert(
      fc.property(encodings, bytes, (encoding, bytes) => {
        const even = bytes.subarray(0, bytes.length & ~1)
        const text = decodeInPieces(encoding, even, [16]).join('')
        const strict = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
        let expected: string | undefined
        try {
          expected = strict.decode(even)
        } catch {
          assert.ok(!text.isWellFormed())
          return
        }
        assert.equal(text, expected)
      }),
      { numRuns: 3000 },
    ))

  it('keeps the good characters around a bad byte', () => {
    const mixed = Buffer.concat([Buffer.from('Zoë '), Buffer.from([0xff]), Buffer.from(' 漢😀\nfine')])
    assert.equal(decodeInPieces('utf-8', mixed, [3]).join('').toWellFormed(), 'Zoë \ufffd 漢😀\nfine')
  })
})
