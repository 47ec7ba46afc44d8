import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readConsent } from './consent-answer.ts'

it('a provider grants, refuses, or answers with too little', () => {
  const body = { code: 'c', state: 's' }
  assert.deepEqual(readConsent('?provider=google&code=c&state=s'), { kind: 'granted', provider: 'google', body })
  assert.deepEqual(readConsent('?provider=google&code=c&state=s&iss=i'), {
    kind: 'granted',
    provider: 'google',
    body: { ...body, iss: 'i' },
  })
  assert.deepEqual(readConsent('?provider=microsoft&error=access_denied&state=s'), {
    kind: 'refused',
    provider: 'microsoft',
    reason: 'access_denied',
  })
  for (const search of ['', '?provider=google&code=c', '?provider=other&code=c&state=s'])
    assert.deepEqual(readConsent(search), { kind: 'incomplete' })
})
