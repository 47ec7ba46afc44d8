import assert from 'node:assert/strict'
import { it } from 'node:test'
import { usualInterval, withoutGaps } from './series.ts'
import { neighboursOf, rateOf, sharesOf } from './status.ts'

const NONE = { sent: 0, delivered: 0, opened: 0, clicked: 0, unsubscribed: 0 }

it('a series has no gaps, begins with its first point and has an end', () => {
  const first = { at: '2026-03-01T10:00:00.000Z', ...NONE, sent: 3 }
  const third = { at: '2026-03-01T12:00:00.000Z', ...NONE, opened: 1 }
  const now = Date.parse('2026-03-01T12:30:00.000Z')
  const gap = { at: '2026-03-01T11:00:00.000Z', ...NONE }
  assert.deepEqual(withoutGaps([first, third], 'hour', now), [first, gap, third])
  assert.deepEqual(withoutGaps([], 'hour', now), [])
  assert.equal(withoutGaps([first], 'hour', Date.parse('2027-03-01T12:30:00.000Z')).length, 72)
  assert.equal(usualInterval(first.at, now), 'hour')
  assert.equal(usualInterval(first.at, Date.parse('2026-03-04T10:00:00.000Z')), 'day')
})

it('the shares of a campaign add up to its recipients', () => {
  const suppressed = { blocked: 1, unsubscribed: 2, address: 3 }
  const others = { recipients: 21, delivered: 9, bounced: 1, complained: 0, opened: 4, clicked: 2, unsubscribed: 1 }
  const shares = sharesOf({ ...others, sent: 10, failed: 1, waiting: 4, suppressed })
  assert.equal(
    shares.reduce((sum, { count }) => sum + count, 0),
    others.recipients,
  )
  assert.deepEqual([rateOf(1, 4), rateOf(0, 0)], [0.25, undefined])
})

it('the wizard has a first and a last step', () => {
  assert.deepEqual(neighboursOf('content'), { before: undefined, after: 'audience' })
  assert.deepEqual(neighboursOf('review'), { before: 'sender', after: undefined })
})
