import assert from 'node:assert/strict'
import { it } from 'node:test'
import { relativeTime } from './relative-time.ts'

it('says how far away a time is', () => {
  const now = new Date('2026-06-15T12:00:00Z')
  const said = (at: string, language = 'en') => relativeTime(new Date(at), now, language)
  assert.equal(said('2026-06-15T11:59:30Z'), 'now')
  assert.equal(said('2026-06-15T11:57:30Z'), '2 minutes ago')
  assert.equal(said('2026-06-15T10:00:00Z', 'de'), 'vor 2 Stunden')
  assert.equal(said('2026-06-17T13:00:00Z'), 'in 2 days')
  assert.equal(said('2026-03-01T12:00:00Z'), 'Mar 1')
  assert.equal(said('2025-03-01T12:00:00Z'), 'Mar 1, 2025')
})

it('counts days by the calendar', () => {
  const now = new Date(2026, 5, 19, 10)
  const said = (day: number, hour: number, language = 'en') => relativeTime(new Date(2026, 5, day, hour), now, language)
  assert.equal(said(18, 9), 'yesterday')
  assert.equal(said(17, 11), '2 days ago')
  assert.equal(said(17, 11, 'de'), 'vorgestern')
  assert.equal(said(20, 11), 'tomorrow')
  assert.equal(said(21, 9), 'in 2 days')
})
