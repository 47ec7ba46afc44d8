import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readLink } from './link-secret.ts'

const ORIGIN = 'https://rollcall.example.com'

it('splits mailed links into a path that may be shown and the secret', () => {
  assert.deepEqual(readLink(`${ORIGIN}/console/set-password?token=abc`), {
    path: '/console/set-password',
    secret: 'abc',
  })
  assert.deepEqual(readLink(`${ORIGIN}/console/verify-email?token=abc`), {
    path: '/console/verify-email',
    secret: 'abc',
  })
  assert.deepEqual(readLink(`${ORIGIN}/console/invitations/abc`), { path: '/console/invitations', secret: 'abc' })
})

it('leaves every other address alone', () => {
  for (const path of ['/', '/console/', '/console/set-password', '/console/invitations', '/console/tokens?token=abc'])
    assert.equal(readLink(`${ORIGIN}${path}`), undefined)
})
