import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Feature } from '@rollcall/sdk'
import { changedFeature, valuesOfFeature } from './feature-values.ts'
import { providerBody, valuesOfProvider } from './provider-values.ts'

it('sends only the keys of a provider that were entered', () => {
  const none = valuesOfProvider({ kind: null, configured: false })
  assert.deepEqual(none, { kind: '', region: 'us', apiKey: '', webhookSigningKey: '' })
  const values = valuesOfProvider({ kind: 'mailgun', configured: true, region: 'eu' })
  assert.deepEqual(providerBody(values), { kind: 'mailgun', region: 'eu' })
  assert.deepEqual(providerBody({ ...values, apiKey: ' key\n' }), { kind: 'mailgun', region: 'eu', apiKey: 'key' })
  assert.deepEqual(providerBody({ ...values, kind: 'self-hosted', apiKey: 'key' }), { kind: 'self-hosted' })
})

it('sends only what changed of a feature, and takes back what a role says', () => {
  const feature = { slug: 'beta', name: 'Beta', description: '', default: false, roles: { user: true } }
  const before = valuesOfFeature(feature as unknown as Feature)
  assert.deepEqual(before, { ...feature, roles: { user: 'on' } })
  assert.deepEqual(changedFeature(before, { ...before, roles: { user: 'on', admin: 'default' } }), {})
  const after = { ...before, default: true, roles: { admin: 'off', user: 'default' } as const }
  assert.deepEqual(changedFeature(before, after), { default: true, roles: { admin: false, user: null } })
})
