import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { AppError } from '@rollcall/contract'
import fc from 'fast-check'
import { type CredentialSources, parseCredential } from './credential.ts'
import { parseKeyRing } from './keys.ts'
import { createSessionJwt } from './session-jwt.ts'
import { formatToken, generateSecret } from './token-secret.ts'

const organizationIds = fc.stringMatching(/^[0-9a-f]{24}$/)
const secrets = fc.constant(null).map(generateSecret)
const prefixes = fc.constantFrom('', 'Bearer ', 'bearer ', 'BEARER ')
const places = fc.constantFrom<keyof CredentialSources>('authorization', 'authTokenCookie', 'authorizationCookie')
const sourceOf = (place: keyof CredentialSources) => (place === 'authorization' ? 'header' : 'cookie')

const parseHeader = (authorization: string) => parseCredential({ authorization })
const refusal = (value: string) => {
  const credential = parseHeader(value)
  return credential.kind === 'invalid' ? new AppError(credential.code).message : credential.kind
}

suite('reading a credential', () => {
  test('a generated token is read back from header and cookies, with and without Bearer', () => {
    fc.assert(
      fc.property(organizationIds, secrets, prefixes, places, (organizationId, secret, prefix, place) => {
        const value = prefix + formatToken(organizationId, secret)
        assert.deepEqual(parseCredential({ [place]: value }), {
          kind: 'token',
          source: sourceOf(place),
          organizationId,
          secret,
        })
      }),
    )
  })

  test('a signed JWT holds no colon and is read as a session', () => {
    const jwt = createSessionJwt({
      keys: parseKeyRing(`one:${'k'.repeat(43)}`),
      issuer: 'issuer',
      audience: 'audience',
    })
    fc.assert(
      fc.property(fc.string(), prefixes, places, (role, prefix, place) => {
        const token = jwt.sign({ sub: 'user', org: 'organization', sid: 'session', role, iat: 1, exp: 2 })
        assert.ok(!token.includes(':'))
        assert.deepEqual(parseCredential({ [place]: prefix + token }), {
          kind: 'session',
          source: sourceOf(place),
          jwt: token,
        })
      }),
    )
  })

  test('never throws, whatever is sent, and shows nothing of it in a rejection', () => {
    const anything = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), { nil: undefined })
    const sources = fc.record({ authorization: anything, authTokenCookie: anything, authorizationCookie: anything })
    fc.assert(
      fc.property(sources, values => {
        const credential = parseCredential(values)
        if (credential.kind !== 'invalid') return
        assert.deepEqual(Object.keys(credential).sort(), ['code', 'kind', 'source'])
      }),
    )
  })

  test('a value with a colon is a token or rejected, one without is never a token', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        assert.notEqual(parseHeader(`${before}:${after}`).kind, 'session')
        assert.notEqual(parseHeader((before + after).replaceAll(':', '')).kind, 'token')
      }),
    )
  })

  test('splits at the first colon only', () => {
    const organizationId = '0123456789abcdef01234567'
    fc.assert(
      fc.property(fc.string(), rest => {
        assert.equal(refusal(`${organizationId}:a:${rest}`), 'Invalid or inactive API token.')
        assert.equal(refusal(`a:${organizationId}:${rest}`), 'Invalid token format.')
      }),
    )
  })

  test('one organization has one spelling', () => {
    const credential = parseHeader(formatToken('0123456789ABCDEF01234567', generateSecret()))
    assert.equal(credential.kind === 'token' && credential.organizationId, '0123456789abcdef01234567')
  })

  test('refuses with the message of the API', () => {
    const secret = generateSecret()
    assert.equal(refusal('no-colon-here'), 'Invalid token format. Expected orgId:secret.')
    assert.equal(refusal('Bearer'), 'Invalid token format. Expected orgId:secret.')
    assert.equal(refusal('Basic dXNlcg=='), 'Invalid token format. Expected orgId:secret.')
    assert.equal(refusal('a.b'), 'Invalid token format. Expected orgId:secret.')
    assert.equal(refusal('a.b.c.d'), 'Invalid token format. Expected orgId:secret.')
    assert.equal(refusal(`${'g'.repeat(24)}:${secret}`), 'Invalid token format.')
    assert.equal(refusal(`abcdefghijkl:${secret}`), 'Invalid token format.')
    assert.equal(refusal(`:${secret}`), 'Invalid token format.')
    assert.equal(refusal(`${'a'.repeat(24)}:`), 'Invalid or inactive API token.')
    assert.equal(refusal(`${'a'.repeat(24)}:${secret}x`), 'Invalid or inactive API token.')
  })

  test('the header wins over cookies, auth_token over authorization, and a blank one counts as missing', () => {
    const [header, first, second] = ['header.header.header', 'first.first.first', 'second.second.second']
    const jwtOf = (sources: CredentialSources) => {
      const credential = parseCredential(sources)
      return credential.kind === 'session' ? [credential.source, credential.jwt] : credential.kind
    }
    const cookies = { authTokenCookie: first, authorizationCookie: second }
    assert.deepEqual(jwtOf({ authorization: header, ...cookies }), ['header', header])
    assert.deepEqual(jwtOf(cookies), ['cookie', first])
    assert.deepEqual(jwtOf({ authorization: ' ', ...cookies }), ['cookie', first])
    assert.deepEqual(jwtOf({ authorization: 'Bearer ', authTokenCookie: '', authorizationCookie: second }), [
      'cookie',
      second,
    ])
    assert.equal(jwtOf({ authorization: 'wrong', ...cookies }), 'invalid')
    assert.equal(jwtOf({}), 'none')
  })
})
