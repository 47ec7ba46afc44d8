import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { suite, test } from 'node:test'
import { parseHashKeys } from './keys.ts'
import { createSecretHashers, secretPurposes } from './secret-hasher.ts'

const bare = 'a'.repeat(43)
const first = `first:${'b'.repeat(43)}`
const second = `second:${'c'.repeat(43)}`
const hashersOf = (...keys: string[]) => createSecretHashers(parseHashKeys(keys.join(',')))
const secret = 'correct horse battery staple'

/** A hash in the old format: with the key itself, without a purpose. */
const bareHash = createHmac('sha256', Buffer.from(bare, 'base64')).update(secret).digest('base64url')

suite('hashes of secrets', () => {
  test('name their key, and depend on it', () => {
    assert.match(hashersOf(first).token.hash(secret), /^first:[\w-]{43}$/)
    const [one, other] = [hashersOf(first), hashersOf(`first:${'c'.repeat(43)}`)]
    assert.notEqual(one.token.hash(secret), other.token.hash(secret))
  })

  test('are valid for one purpose only', () => {
    const hashers = hashersOf(first)
    for (const made of secretPurposes) {
      for (const shown of secretPurposes) {
        const hash = hashers[made].hash(secret)
        assert.equal(hashers[shown].matches(hash, secret), made === shown, `${made} as ${shown}`)
        assert.equal(hashers[shown].hashes(secret).includes(hash), made === shown, `${made} as ${shown}`)
      }
    }
  })

  test('match nothing but their secret', () => {
    const { token } = hashersOf(first)
    assert.equal(token.matches(token.hash(secret), `${secret}.`), false)
    assert.equal(token.matches('first:', secret), false)
    assert.equal(token.matches('', secret), false)
  })

  test('are found whichever key of the ring made them', () => {
    const { token } = hashersOf(second, first)
    for (const keys of [first, second]) {
      const stored = hashersOf(keys).token.hash(secret)
      assert.ok(token.matches(stored, secret))
      assert.ok(token.hashes(secret).includes(stored))
    }
    assert.equal(hashersOf(second).token.matches(hashersOf(first).token.hash(secret), secret), false)
  })

  test('in the old format are found only by the unnamed key', () => {
    assert.ok(hashersOf(bare).token.matches(bareHash, secret))
    assert.equal(hashersOf(first, bare).token.hashes(secret).at(-1), bareHash)
    assert.equal(hashersOf(`first:${bare}`).token.matches(bareHash, secret), false)
  })

  test('are renewed under the first key, once', () => {
    const { token } = hashersOf(second, first, bare)
    const hashes = token.hashes(secret)
    const newest = token.hash(secret)
    for (const stored of [bareHash, hashersOf(bare).token.hash(secret), hashersOf(first).token.hash(secret)])
      assert.equal(token.renewal(stored, hashes), newest)
    assert.equal(token.renewal(newest, hashes), undefined)
  })

  test('are not renewed while the unnamed key is the current one: a rollback must still find them', () => {
    const { token } = hashersOf(bare, first)
    assert.equal(token.renewal(bareHash, token.hashes(secret)), undefined)
  })

  test('reject an invalid ring, without showing it', () => {
    for (const text of [
      '',
      'short',
      `${bare},${bare}`,
      `${first},${first}`,
      `:${bare}`,
      `a:b:${bare}`,
      'first:short',
    ]) {
      assert.throws(
        () => parseHashKeys(text),
        error => error instanceof Error && !(text && error.message.includes(text)),
      )
    }
  })
})
