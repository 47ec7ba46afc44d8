import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { generateSecret, hashSecret, isSecretShaped, previewToken, sameHash } from './token-secret.ts'

const draws = 4_000

suite('token secrets', () => {
  test('are 60 characters of an alphabet of 60, each as likely as the next', () => {
    const seen = new Map<string, number>()
    for (let draw = 0; draw < draws; draw++) {
      const secret = generateSecret()
      assert.match(secret, /^[0-9A-Za-z]{60}$/)
      assert.ok(isSecretShaped(secret))
      for (const character of secret) seen.set(character, (seen.get(character) ?? 0) + 1)
    }
    assert.equal(seen.size, 60)
    // Every character is expected `draws` times; six standard deviations are never seen by chance.
    const tolerance = 6 * Math.sqrt(draws)
    for (const [character, count] of seen) {
      assert.ok(Math.abs(count - draws) < tolerance, `${character}: ${count} of ${draws}`)
    }
  })

  test('leave two look-alikes out', () => {
    assert.ok(!isSecretShaped('O'.repeat(60)))
    assert.ok(!isSecretShaped('l'.repeat(60)))
    assert.ok(isSecretShaped('0'.repeat(60)))
  })

  test('are hashed with the key of the server', () => {
    const [one, other] = ['a', 'b'].map(letter => createSecretKey(Buffer.from(letter.repeat(32))))
    const secret = generateSecret()
    assert.match(hashSecret(secret, one!), /^[\w-]{43}$/)
    assert.equal(hashSecret(secret, one!), hashSecret(secret, one!))
    assert.notEqual(hashSecret(secret, one!), hashSecret(secret, other!))
  })

  test('hashes agree only if they are equal', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (one, other) => sameHash(one, other) === (one === other)))
    fc.assert(fc.property(fc.string(), text => sameHash(text, text)))
  })

  test('show four characters at either end', () => {
    assert.equal(
      previewToken('0123456789abcdef01234567', `abcd${'0'.repeat(52)}wxyz`),
      '0123456789abcdef01234567:abcd********wxyz',
    )
  })
})
