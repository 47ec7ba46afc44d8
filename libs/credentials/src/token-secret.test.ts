import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { generateSecret, isSecretShaped, previewToken, tokenCacheId } from './token-secret.ts'

const DRAWS = 4_000

suite('token secrets', () => {
  test('are 60 characters of an alphabet of 60, each as likely as the next', () => {
    const seen = new Map<string, number>()
    for (let draw = 0; draw < DRAWS; draw++) {
      const secret = generateSecret()
      assert.match(secret, /^[0-9A-Za-z]{60}$/)
      assert.ok(isSecretShaped(secret))
      for (const character of secret) seen.set(character, (seen.get(character) ?? 0) + 1)
    }
    assert.equal(seen.size, 60)
    // Every character is expected `draws` times; six standard deviations are never seen by chance.
    const tolerance = 6 * Math.sqrt(DRAWS)
    for (const [character, count] of seen) {
      assert.ok(Math.abs(count - DRAWS) < tolerance, `${character}: ${count} of ${DRAWS}`)
    }
  })

  test('leave two look-alikes out', () => {
    assert.ok(!isSecretShaped('O'.repeat(60)))
    assert.ok(!isSecretShaped('l'.repeat(60)))
    assert.ok(isSecretShaped('0'.repeat(60)))
  })

  test('show four characters at either end', () => {
    assert.equal(
      previewToken('0123456789abcdef01234567', `abcd${'0'.repeat(52)}wxyz`),
      '0123456789abcdef01234567:abcd********wxyz',
    )
  })

  test('are named in the cache by their hash, and a change finds them by their preview', () => {
    const secret = generateSecret()
    const id = tokenCacheId('first:hash', secret)
    assert.ok(id.startsWith('first:hash'))
    assert.equal(id.at(-1), previewToken('0123456789abcdef01234567', secret).at(-1))
  })
})
