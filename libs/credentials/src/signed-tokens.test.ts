import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KeyRing } from './keys.ts'
import { bytesOfIds, createSignedTokens, idsOfBytes } from './signed-tokens.ts'

const key = () => createSecretKey(randomBytes(32))
const [one, two] = [key(), key()]
const ring: KeyRing = new Map([['one', one]])
const content = bytesOfIds('badcab'.repeat(4), 'decade'.repeat(4))

describe('signed tokens', () => {
  for (const encoding of ['base64url', 'base32'] as const) {
    const tokens = createSignedTokens(ring, 'open', { encoding })

    it(`return what was signed, in ${encoding}`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
          const token = tokens.sign(Buffer.from(bytes))
          assert.match(token, encoding === 'base32' ? /^[a-z2-7]+$/ : /^[\w-]+$/)
          assert.deepEqual(tokens.verify(token), Buffer.from(bytes))
        }),
      )
    })

    it(`are refused in any other spelling, in ${encoding}`, () => {
      const token = tokens.sign(content)
      const letters =
        encoding === 'base32' ? 'abcdefghijklmnopqrstuvwxyz234567A=' : 'abcdefghijklmnopqrstuvwxyzABC019-_= %'
      for (let at = 0; at < token.length; at++) {
        assert.equal(tokens.verify(token.slice(0, at)), undefined)
        for (const letter of letters) {
          const altered = token.slice(0, at) + letter + token.slice(at + 1)
          if (altered !== token) assert.equal(tokens.verify(altered), undefined, altered)
          assert.equal(tokens.verify(token.slice(0, at) + letter + token.slice(at)), undefined)
        }
      }
      assert.equal(tokens.verify(`${token}=`), undefined)
    })
  }

  it('are refused where a reader that trusts their content would be deceived', () => {
    const tokens = createSignedTokens(ring, 'open')
    const naive = (token: string) => Buffer.from(token, 'base64url').subarray(10)
    let deceived = 0
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 10, maxLength: 10 }), mac => {
        const forged = Buffer.concat([mac, content]).toString('base64url')
        if (naive(forged).equals(content)) deceived++
        return tokens.verify(forged) === undefined
      }),
    )
    assert.ok(deceived > 0)
  })

  it('are refused if they are random', () => {
    const tokens = createSignedTokens(ring, 'open')
    fc.assert(fc.property(fc.string(), text => tokens.verify(text) === undefined))
    fc.assert(
      fc.property(fc.uint8Array(), bytes => tokens.verify(Buffer.from(bytes).toString('base64url')) === undefined),
    )
  })

  it('are valid for their purpose only', () => {
    const token = createSignedTokens(ring, 'open').sign(content)
    assert.equal(createSignedTokens(ring, 'click').verify(token), undefined)
  })

  it('stay valid while their key is in the ring', () => {
    const token = createSignedTokens(ring, 'open').sign(content)
    const rotated = new Map([
      ['two', two],
      ['one', one],
    ])
    assert.deepEqual(createSignedTokens(rotated, 'open').verify(token), content)
    assert.equal(createSignedTokens(new Map([['two', two]]), 'open').verify(token), undefined)
    const newer = createSignedTokens(rotated, 'open').sign(content)
    assert.equal(createSignedTokens(ring, 'open').verify(newer), undefined)
  })

  it('end after their time, if they have one', () => {
    let now = 1_700_000_000_000
    const tokens = createSignedTokens(ring, 'confirmation', { ttlSeconds: 60, clock: () => now })
    const token = tokens.sign(content)
    now += 59_000
    assert.deepEqual(tokens.verify(token), content)
    now += 1_000
    assert.equal(tokens.verify(token), undefined)
  })

  it('fit into the local part of a mail address with two ids', () => {
    assert.ok(`b+${createSignedTokens(ring, 'bounce', { encoding: 'base32' }).sign(content)}`.length <= 64)
  })

  it('hold ids, and what follows them', () => {
    const { ids, rest } = idsOfBytes(Buffer.concat([content, Buffer.from('rest')]), 2)
    assert.deepEqual([ids, rest.toString()], [['badcab'.repeat(4), 'decade'.repeat(4)], 'rest'])
  })
})
