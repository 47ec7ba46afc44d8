import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { keptIn } from './keys.ts'
import { readSettings, registrationWarning } from './settings.ts'

const root = mkdtempSync(join(tmpdir(), 'keys-'))
after(() => rmSync(root, { recursive: true }))
const newDir = () => mkdtempSync(join(root, 'data-'))
const EMAIL = 'owner@rollcall.test'

test('keys and a generated password stay the same, and are private', () => {
  const dir = newDir()
  const first = keptIn(dir, { email: EMAIL })
  assert.ok((first.owner.password?.length ?? 0) >= 16)
  assert.deepEqual(keptIn(dir, { email: 'another@rollcall.test', password: 'came too late' }), first)
  assert.equal(statSync(join(dir, 'keys.json')).mode & 0o777, 0o600)
  assert.notDeepEqual(keptIn(newDir(), { email: EMAIL }).keys, first.keys)
})

test('a given password is not stored', () => {
  assert.deepEqual(keptIn(newDir(), { email: EMAIL, password: 'given by hand' }).owner, { email: EMAIL })
})

test('a file of an older version gets the keys it lacks, once', () => {
  const dir = newDir()
  const { keys, owner } = keptIn(dir, { email: EMAIL })
  const { SECRET_KEYS: _, ASSERTION_KEYS: __, ...older } = keys
  const shared = { ASSERTION_KEY: 'one key of all services' }
  writeFileSync(join(dir, 'keys.json'), JSON.stringify({ keys: { ...older, ...shared }, owner }))
  const made = keptIn(dir, { email: EMAIL })
  assert.match(made.keys.SECRET_KEYS, /^local:/)
  assert.match(made.keys.ASSERTION_KEYS.gateway, /^gateway:/)
  assert.equal(made.keys.TOKEN_KEY, keys.TOKEN_KEY)
  assert.deepEqual(keptIn(dir, { email: EMAIL }), made)
})

test('a broken keys file is not replaced', () => {
  const dir = newDir()
  writeFileSync(join(dir, 'keys.json'), '{')
  assert.throws(() => keptIn(dir, { email: EMAIL }), { name: 'Problem', message: /keys\.json is not readable/ })
})

test('every invalid setting is named, with the expected value', () => {
  const wrong = {
    PORT: '80a',
    BOOTSTRAP_EMAIL: 'nobody',
    BOOTSTRAP_PASSWORD: 'short',
    REGISTRATION: 'maybe',
    SMTP_URL: 'mail.example.com',
    TRUST_PROXY: 'true',
    MONGODB_URL: 'localhost',
    REDIS_CACHE_URL: 'http://localhost',
  }
  assert.throws(
    () => readSettings(wrong),
    (error: Error) => {
      const lines = error.message.split('\n')
      assert.deepEqual(lines.map(line => line.split(' ')[0]).sort(), Object.keys(wrong).sort())
      return lines.every(line => line.includes('expected'))
    },
  )
  assert.equal(readSettings({ PORT: '' }).PORT, 8080)
})

test('open registration of a stack that other machines can reach gives a warning', () => {
  const exposed = [
    { LISTEN_HOST: '0.0.0.0' },
    { LISTEN_HOST: '::' },
    { PUBLIC_URL: 'https://rollcall.example.com' },
    { TRUST_PROXY: '1' },
  ]
  for (const settings of exposed) {
    assert.match(registrationWarning(readSettings(settings)) ?? '', /REGISTRATION=closed/)
    assert.equal(registrationWarning(readSettings({ ...settings, REGISTRATION: 'closed' })), undefined)
  }
  for (const settings of [{}, { LISTEN_HOST: '127.0.0.1' }, { PUBLIC_URL: 'http://[::1]:8080' }])
    assert.equal(registrationWarning(readSettings(settings)), undefined)
})
