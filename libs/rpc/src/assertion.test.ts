import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { accessOf, contractRoot, servicesOf } from '@rollcall/contract'
import { createSigner, createVerifier } from './assertion.ts'
import { type Caller, serviceCaller } from './caller.ts'
import { issuersOf, requireIssuer } from './issuers.ts'
import { newKeySettings, newSigningKey, readPublicKeys, readSigningKey, readTrust } from './service-keys.ts'

const { gateway, messaging } = newKeySettings(['gateway', 'messaging'])
const { signingKey, publicKeys } = readTrust(gateway)
const caller: Caller = { ...serviceCaller('x', 'a'.repeat(24)), kind: 'session', userId: 'b'.repeat(24) }
const RPC = '/rollcall.audience.v1.Contacts/GetContact'
const ANOTHER = '/rollcall.audience.v1.Contacts/DeleteContact'
const now = Date.now()

/** Signs each time, without the cache. */
const sign = (at = now, key = signingKey) => createSigner(key)(caller, RPC, at)
const verify = (assertion: string, at = now, of = RPC) => createVerifier(publicKeys)(assertion, of, at)
const forged = (change: object) => {
  const [payload = '', signature] = sign().split('.')
  const fields = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return `${Buffer.from(JSON.stringify({ ...fields, ...change })).toString('base64url')}.${signature}`
}

describe('assertion', () => {
  it('gives the caller back within its time, and who signed it', () => {
    assert.deepEqual(verify(sign(), now + 29_000), { issuer: 'gateway', caller })
  })

  it('is verified with both keys of a service while they are rotated', () => {
    const next = newSigningKey('gateway')
    const [, publicNext] = newKeySettings(['gateway']).gateway.ASSERTION_PUBLIC_KEYS.split(':')
    assert.ok(publicNext)
    const both = readPublicKeys(`${gateway.ASSERTION_PUBLIC_KEYS},gateway:${publicNext}`)
    assert.equal(createVerifier(both)(sign(), RPC, now)?.issuer, 'gateway')
    assert.equal(verify(sign(now, readSigningKey(next))), undefined)
  })

  for (const [what, assertion, at, of] of [
    ['past its time', sign(), now + 60_000, RPC],
    ['from far ahead', sign(now + 60_000), now, RPC],
    ['for another rpc', sign(), now, ANOTHER],
    ['signed by a stranger', sign(now, readSigningKey(newSigningKey('gateway'))), now, RPC],
    ['signed by a service in the name of another', forged({ iss: 'messaging' }), now, RPC],
    ['of another caller than was signed', forged({ caller: { ...caller, organizationId: 'c'.repeat(24) } }), now, RPC],
    ['of a key that is not there', forged({ kid: '__proto__' }), now, RPC],
    ['cut short', sign().slice(0, -3), now, RPC],
    ['without a signature', sign().split('.')[0]!, now, RPC],
    ['no JSON', 'bm9uZQ.bm9uZQ', now, RPC],
    ['empty', '', now, RPC],
  ] as const) {
    it(`is nothing when ${what}`, () => assert.equal(verify(assertion, at, of), undefined))
  }

  it('is signed again before it ends, and once for each caller and rpc until then', () => {
    const signer = createSigner(signingKey)
    const first = signer(caller, RPC, now)
    assert.equal(signer({ ...caller }, RPC, now + 14_000), first)
    assert.notEqual(signer(caller, ANOTHER, now), first)
    assert.notEqual(signer({ ...caller, readOnly: true }, RPC, now), first)
    const later = signer(caller, RPC, now + 16_000)
    assert.equal(createVerifier(publicKeys)(later, RPC, now + 45_000)?.issuer, 'gateway')
  })

  it('that is remembered as genuine still ends, and is still for one rpc', () => {
    const verifier = createVerifier(publicKeys)
    const assertion = sign()
    assert.ok(verifier(assertion, RPC, now))
    assert.equal(verifier(assertion, ANOTHER, now), undefined)
    assert.equal(verifier(assertion, RPC, now + 60_000), undefined)
    verifier(assertion, RPC, now)!.caller.permissions = []
    assert.equal(verifier(assertion, RPC, now)?.caller.permissions, '*')
  })
})

describe('the keys of services', () => {
  for (const text of [
    '',
    'gateway',
    'gateway:',
    ':key',
    `gateway:${'A'.repeat(44)}`,
    gateway.ASSERTION_KEY.replace('gateway:', ''),
    gateway.ASSERTION_PUBLIC_KEYS,
  ]) {
    it(`are no signing key as ${text.slice(0, 20)}`, () => assert.throws(() => readSigningKey(text)))
  }

  it('are Ed25519 and nothing else, public where public ones are wanted', () => {
    assert.throws(() => readPublicKeys(messaging.ASSERTION_KEY))
    assert.equal(readPublicKeys(messaging.ASSERTION_PUBLIC_KEYS).size, 2)
  })
})

describe('who may call whom', () => {
  const allows = (rpc: string, hasRoute: boolean, issuer: string, kind: Caller['kind'], userName = issuer) => {
    try {
      requireIssuer(issuersOf(rpc, hasRoute), { issuer, caller: { ...caller, kind, userName } })
      return true
    } catch {
      return false
    }
  }

  it('is declared for every rpc', () => {
    for (const service of servicesOf(contractRoot())) {
      for (const rpc of service.methodsArray) {
        const path = `/${service.fullName.slice(1)}/${rpc.name}`
        assert.ok(Object.keys(issuersOf(path, accessOf(rpc) !== undefined)).length > 0, path)
      }
    }
    assert.throws(() => issuersOf('/rollcall.audience.v1.Contacts/Unknown', false), /neither a route nor declared/)
  })

  it('leaves people and tokens to the gateway, and services to themselves', () => {
    assert.ok(allows(RPC, true, 'gateway', 'session'))
    assert.ok(!allows(RPC, true, 'gateway', 'service'))
    for (const issuer of ['import', 'messaging', 'audience', 'constructor']) {
      assert.ok(!allows(RPC, true, issuer, 'session'), issuer)
      assert.ok(!allows(RPC, true, issuer, 'service'), issuer)
    }
    const resolve = '/rollcall.identity.v1.Credentials/ResolveToken'
    assert.ok(allows(resolve, false, 'gateway', 'service'))
    assert.ok(!allows(resolve, false, 'gateway', 'session'))
    assert.ok(!allows(resolve, false, 'messaging', 'service'))
    assert.ok(!allows(resolve, false, 'messaging', 'service', 'gateway'))
  })
})
