import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { createPasswords, type Passwords } from './passwords.ts'

describe('passwords', () => {
  let passwords: Passwords
  before(async () => {
    passwords = await createPasswords({ parallelism: 2, maxWaiting: 3 })
  })

  it('fit the hash made of them, and no other does', async () => {
    const passwordHash = await passwords.hash('correct horse')
    assert.match(passwordHash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(await passwords.fits('correct horse', passwordHash), true)
    assert.equal(await passwords.fits('correct horsE', passwordHash), false)
    assert.notEqual(await passwords.hash('correct horse'), passwordHash)
  })

  it('are the same however accents are composed', async () => {
    assert.equal(await passwords.fits('e\u0301te\u0301', await passwords.hash('\u00e9t\u00e9')), true)
  })

  it('never fit where there is no hash', async () => {
    assert.equal(await passwords.fits('nobody', undefined), false)
  })

  it('are refused rather than queued without end', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => passwords.fits('x', undefined)))
    const refused = attempts.filter(attempt => attempt.status === 'rejected')
    assert.equal(refused.length, 3)
    assert.ok(refused.every(({ reason }) => reason.code === 'unavailable'))
    assert.equal(await passwords.fits('x', undefined), false)
  })

  it('leave the event loop free', async () => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    await passwords.hash('correct horse')
    clearInterval(timer)
    assert.ok(turns > 1, `${turns} turns`)
  })
})
