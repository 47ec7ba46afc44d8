import assert from 'node:assert/strict'
import { it } from 'node:test'
import { changedSettings } from './changed-settings.ts'

const settings = {
  name: 'Works',
  timezone: 'UTC',
  language: 'en',
  allowedOrigins: ['https://a.example.com'],
  sessionHours: 24,
  requireMfa: false,
  eventRetentionDays: 30,
  defaultTracking: { opens: true, clicks: true },
}

it('sends only what changed', () => {
  assert.deepEqual(changedSettings(settings, structuredClone(settings)), {})
  const blank = { ...settings, allowedOrigins: [' https://a.example.com', ''] }
  assert.deepEqual(changedSettings(settings, blank), {})
  const after = { ...settings, allowedOrigins: [], defaultTracking: { opens: true, clicks: false } }
  assert.deepEqual(changedSettings(settings, after), {
    allowedOrigins: [],
    defaultTracking: { opens: true, clicks: false },
  })
})
