import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { generateSync } from 'otplib'
import { newRecoveryCodes, newTotp, recoveryHash, stepOf } from './totp.ts'

const STEP_SECONDS = 30
/** Of RFC 6238, appendix B: the secret 12345678901234567890 in base32. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

const now = () => Math.floor(Date.now() / 1000)
const codeAt = (secret: string, seconds: number) => generateSync({ secret, epoch: seconds })

describe('codes', () => {
  it('are those of RFC 6238 for SHA-1, cut to six digits', test => {
    for (const [seconds, code, step] of [
      [59, '287082', 1],
      [1_111_111_109, '081804', 37_037_036],
      [2_000_000_000, '279037', 66_666_666],
    ] as const) {
      test.mock.timers.enable({ apis: ['Date'], now: seconds * 1000 })
      assert.equal(stepOf(RFC_SECRET, code), step)
      test.mock.timers.reset()
    }
  })

  it('are valid for the step before and after, and name their step', () => {
    const { secret } = newTotp({ issuer: 'Acme', label: 'a@example.com' })
    const at = now()
    const step = Math.floor(at / STEP_SECONDS)
    for (const distance of [-1, 0, 1])
      assert.equal(stepOf(secret, codeAt(secret, (step + distance) * STEP_SECONDS)), step + distance)
    for (const distance of [-3, 3])
      assert.equal(stepOf(secret, codeAt(secret, at + distance * STEP_SECONDS)), undefined)
  })

  it('have six digits', () => {
    const { secret } = newTotp({ issuer: 'Acme', label: 'a@example.com' })
    for (const text of ['', '12345', '1234567', 'abcdef', '１２３４５６', '-12345'])
      assert.equal(stepOf(secret, text), undefined)
  })
})

describe('the key URI', () => {
  it('has issuer, account and secret, with a colon between the first two only', () => {
    const { secret, uri } = newTotp({ issuer: 'Acme: Ünited', label: 'a+b@example.com' })
    const { protocol, host, pathname, searchParams } = new URL(uri)
    assert.deepEqual([protocol, host], ['otpauth:', 'totp'])
    assert.equal(decodeURIComponent(pathname), '/Acme  Ünited:a+b@example.com')
    assert.deepEqual([searchParams.get('secret'), searchParams.get('issuer')], [secret, 'Acme  Ünited'])
    assert.equal(Buffer.from(secret).length, 32)
  })
})

describe('recovery codes', () => {
  it('are ten different ones of 80 bits', () => {
    const codes = newRecoveryCodes()
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  })

  it('are recognized however they are typed, for their own secret only', () => {
    const [code = ''] = newRecoveryCodes()
    const hash = recoveryHash('one', code)
    for (const typed of [code.toUpperCase(), code.replaceAll('-', ''), code.replaceAll('-', ' ')])
      assert.equal(recoveryHash('one', typed), hash)
    assert.notEqual(recoveryHash('other', code), hash)
    assert.ok(!hash.includes(code))
  })
})
