import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { parseKeyRing } from './keys.ts'
import { createSecrets } from './secrets.ts'

const key = (name: string) => `${name}:${randomBytes(32).toString('base64')}`
const [old, fresh] = [key('old'), key('fresh')]

describe('secrets', () => {
  it('open as they were sealed, and no two are equal', () => {
    const secrets = createSecrets(parseKeyRing(old))
    for (const text of ['', 'a', 'pässwörd 🔑', 'x'.repeat(5000)]) {
      const [one, other] = [secrets.seal(text, 'here'), secrets.seal(text, 'here')]
      assert.equal(secrets.open(one, 'here'), text)
      assert.notEqual(one.data + one.iv, other.data + other.iv)
      assert.equal(one.key, 'old')
    }
  })

  it('do not open elsewhere, with another key, or when altered', () => {
    const secrets = createSecrets(parseKeyRing(old))
    const sealed = secrets.seal('text', 'here')
    assert.throws(() => secrets.open(sealed, 'there'))
    assert.throws(() => createSecrets(parseKeyRing(fresh)).open(sealed, 'here'), /no key old/)
    const stranger = createSecrets(parseKeyRing(key('old')))
    assert.throws(() => stranger.open(sealed, 'here'))
    for (const part of ['iv', 'data', 'tag'] as const) {
      const bytes = Buffer.from(sealed[part], 'base64')
      bytes[0]! ^= 1
      assert.throws(() => secrets.open({ ...sealed, [part]: bytes.toString('base64') }, 'here'), part)
    }
    assert.throws(() => secrets.open({ ...sealed, tag: sealed.tag.slice(0, 8) }, 'here'))
  })

  it('open under every key of the ring and are sealed under the first', () => {
    const sealed = createSecrets(parseKeyRing(old)).seal('text', 'here')
    const both = createSecrets(parseKeyRing(`${fresh},${old}`))
    assert.equal(both.open(sealed, 'here'), 'text')
    assert.ok(both.isStale(sealed))
    const renewed = both.seal('text', 'here')
    assert.ok(renewed.key === 'fresh' && !both.isStale(renewed))
  })
})
