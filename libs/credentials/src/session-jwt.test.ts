import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import jsonwebtoken, { type Secret, type SignOptions } from 'jsonwebtoken'
import { type KeyRing, parseKeyRing } from './keys.ts'
import { createSessionJwt, type SessionClaims } from './session-jwt.ts'

const [oldKey, newKey] = ['old:', 'new:'].map((kid, n) => kid + Buffer.alloc(32, n + 1).toString('base64'))
const ring = parseKeyRing(`${newKey},${oldKey}`)
const parties = { issuer: 'rollcall', audience: 'rollcall' }

const START = 1_800_000_000
const claims: SessionClaims = {
  sub: '0123456789abcdef01234567',
  org: '89abcdef0123456789abcdef',
  sid: 'a-session_1',
  role: 'owner',
  iat: START,
  exp: START + 60,
}

function createAt(seconds: number, keys: KeyRing = ring) {
  let time = seconds * 1_000
  const jwt = createSessionJwt({ keys, ...parties, clock: () => time })
  return Object.assign(jwt, {
    moveTo(later: number) {
      time = later * 1_000
    },
  })
}

/** A JWT from another signer. */
function forge(payload: object, options: SignOptions = {}, key: Secret = ring.get('new')!) {
  return jsonwebtoken.sign(payload, key, { algorithm: 'HS256', keyid: 'new', ...parties, ...options })
}

suite('session JWTs', () => {
  test('return the signed claims', () => {
    const jwt = createAt(START)
    const whole = { ...claims, act: { sub: 'fedcba987654321001234567' }, scope: 'audience.read users.read' }
    assert.deepEqual(jwt.verify(jwt.sign(claims)), claims)
    assert.deepEqual(jwt.verify(jwt.sign(whole)), whole)
  })

  test('carry issuer, audience and key id', () => {
    const decoded = jsonwebtoken.decode(createAt(START).sign(claims), { complete: true })
    assert.deepEqual(decoded?.header, { alg: 'HS256', typ: 'JWT', kid: 'new' })
    assert.deepEqual(decoded?.payload, { ...claims, iss: 'rollcall', aud: 'rollcall' })
  })

  test('expire to the millisecond, cached or not', () => {
    const jwt = createAt(START)
    const token = jwt.sign(claims)
    assert.ok(jwt.verify(token))
    jwt.moveTo(claims.exp - 0.001)
    assert.ok(jwt.verify(token))
    jwt.moveTo(claims.exp)
    assert.equal(jwt.verify(token), undefined)
    assert.equal(createAt(claims.exp).verify(token), undefined)
    assert.ok(createAt(claims.exp - 0.001).verify(token))
  })

  test('are refused when a single character differs, also after the valid one was cached', () => {
    const jwt = createAt(START)
    const token = jwt.sign(claims)
    assert.ok(jwt.verify(token))
    // Not the last character of a signature: its spare bits allow several valid spellings.
    for (let at = 0; at < token.length - 1; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      assert.equal(jwt.verify(changed), undefined, `at ${at}`)
    }
  })

  test('are refused from another issuer, for another audience, by another key or algorithm', () => {
    const jwt = createAt(START)
    assert.ok(jwt.verify(forge(claims)))
    assert.equal(jwt.verify(forge(claims, { issuer: 'other' })), undefined)
    assert.equal(jwt.verify(forge(claims, { audience: 'other' })), undefined)
    assert.equal(jwt.verify(forge(claims, {}, ring.get('old')!)), undefined)
    assert.equal(jwt.verify(forge(claims, { keyid: 'unknown' })), undefined)
    assert.equal(jwt.verify(forge(claims, { keyid: '__proto__' })), undefined)
    assert.equal(jwt.verify(forge(claims, { algorithm: 'HS512' })), undefined)
    assert.equal(jwt.verify(forge(claims, { algorithm: 'none' }, '')), undefined)
    assert.equal(jwt.verify(jsonwebtoken.sign(claims, ring.get('new')!, parties)), undefined)
  })

  test('are refused when their claims are not those of a session', () => {
    const jwt = createAt(START)
    const wrong: object[] = [
      { sub: 7 },
      { org: '' },
      { sid: 'a}b' },
      { sid: 's'.repeat(65) },
      { role: null },
      { act: 'someone' },
      { act: {} },
      { scope: ['audience.read'] },
    ]
    for (const change of wrong) {
      assert.equal(jwt.verify(forge({ ...claims, ...change })), undefined, JSON.stringify(change))
    }
    for (const claim of Object.keys(claims).filter(name => name !== 'iat')) {
      const rest = Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim))
      assert.equal(jwt.verify(forge(rest)), undefined, claim)
    }
  })

  test('nonsense is refused', () => {
    const jwt = createAt(START)
    for (const text of ['', '.', '..', 'a.b.c', 'e30.e30.', `${'a'.repeat(10_000)}.b.c`, '\u0000.\u0000.\u0000']) {
      assert.equal(jwt.verify(text), undefined)
    }
  })

  test('of the previous key stay valid after a rotation, until it is removed from the ring', () => {
    const before = createAt(START, parseKeyRing(oldKey!)).sign(claims)
    assert.ok(createAt(START).verify(before))
    assert.equal(createAt(START, parseKeyRing(newKey!)).verify(before), undefined)
  })

  test('cannot be changed by their readers', () => {
    const jwt = createAt(START)
    const token = jwt.sign({ ...claims, act: { sub: 'someone' } })
    const read = jwt.verify(token) as SessionClaims
    assert.throws(() => Object.assign(read, { role: 'admin' }))
    assert.throws(() => Object.assign(read.act!, { sub: 'admin' }))
    assert.equal(jwt.verify(token)?.role, 'owner')
  })
})

suite('key rings', () => {
  test('are refused when malformed, without showing a key', () => {
    for (const text of [
      '',
      'one',
      'one:',
      ':key',
      'one:dG9vIHNob3J0',
      `${oldKey},${oldKey}`,
      `${oldKey}:more`,
      `${oldKey},`,
    ]) {
      assert.throws(
        () => parseKeyRing(text),
        (error: Error) => text === '' || !error.message.includes(text.slice(4, 20) || '-'),
      )
    }
  })
})
