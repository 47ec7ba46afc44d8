import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { suite, test } from 'node:test'
import { parseHashKeys } from './keys.ts'
import { createSecretHashers, secretPurposes } from './secret-hasher.ts'

const bare = 'a'.repeat(43)
const FIRST = `first:${'b'.repeat(43)}`
const SECOND = `second:${'c'.repeat(43)}`
const hashersOf = (...keys: string[]) => createSecretHashers(parseHashKeys(keys.join(',')))
const SECRET = 'correct horse battery staple'

/** A hash in the old format: with the key itself, without a purpose. */
const bareHash = createHmac('sha256', Buffer.from(bare, 'base64')).update(SECRET).digest('base64url')

suite('hashes of secrets', () => {
  test('name their key, and depend on it', () => {
    assert.match(hashersOf(FIRST).token.hash(SECRET), /^first:[\w-]{43}$/)
    const [one, other] = [hashersOf(FIRST), hashersOf(`first:${'c'.repeat(43)}`)]
    assert.notEqual(one.token.hash(SECRET), other.token.hash(SECRET))
  })

  test('are valid for one purpose only', () => {
    const hashers = hashersOf(FIRST)
    for (const made of secretPurposes) {
      for (const shown of secretPurposes) {
        const hash = hashers[made].hash(SECRET)
        assert.equal(hashers[shown].matches(hash, SECRET), made === shown, `${made} as ${shown}`)
        assert.equal(hashers[shown].hashes(SECRET).includes(hash), made === shown, `${made} as ${shown}`)
      }
    }
  })

  test('match nothing but their secret', () => {
    const { token } = hashersOf(FIRST)
    assert.equal(token.matches(token.hash(SECRET), `${SECRET}.`), false)
    assert.equal(token.matches('first:', SECRET), false)
    assert.equal(token.matches('', SECRET), false)
  })

  test('are found whichever key of the ring made them', () => {
    const { token } = hashersOf(SECOND, FIRST)
    for (const keys of [FIRST, SECOND]) {
      const stored = hashersOf(keys).token.hash(SECRET)
      assert.ok(token.matches(stored, SECRET))
      assert.ok(token.hashes(SECRET).includes(stored))
    }
    assert.equal(hashersOf(SECOND).token.matches(hashersOf(FIRST).token.hash(SECRET), SECRET), false)
  })

  test('in the old format are found only by the unnamed key', () => {
    assert.ok(hashersOf(bare).token.matches(bareHash, SECRET))
    assert.equal(hashersOf(FIRST, bare).token.hashes(SECRET).at(-1), bareHash)
    assert.equal(hashersOf(`first:${bare}`).token.matches(bareHash, SECRET), false)
  })

  test('are renewed under the first key, once', () => {
    const { token } = hashersOf(SECOND, FIRST, bare)
    const hashes = token.hashes(SECRET)
    const newest = token.hash(SECRET)
    for (const stored of [bareHash, hashersOf(bare).token.hash(SECRET), hashersOf(FIRST).token.hash(SECRET)])
      assert.equal(token.renewal(stored, hashes), newest)
    assert.equal(token.renewal(newest, hashes), undefined)
  })

  test('are not renewed while the unnamed key is the current one: a rollback must still find them', () => {
    const { token } = hashersOf(bare, FIRST)
    assert.equal(token.renewal(bareHash, token.hashes(SECRET)), undefined)
  })

  test('reject an invalid ring, without showing it', () => {
    for (const text of [
      '',
      'short',
      `${bare},${bare}`,
      `${FIRST},${FIRST}`,
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
