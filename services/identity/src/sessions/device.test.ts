import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceOf } from './device.ts'

describe('device', () => {
  for (const [userAgent, device] of [
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
      { name: 'Chrome on macOS', browser: 'Chrome 120.0.0.0', os: 'macOS 10.15.7', type: 'desktop' },
    ],
    [
      'invented7/1.0 (Windows NT 10.0; Win64; x64)',
      { name: 'Unknown browser on Windows', browser: '', os: 'Windows NT 10.0', type: 'desktop' },
    ],
    [
      'Opera/9.80 (Android; Opera Mini/36.2; U; en) Presto/2.12.423 Version/12.16',
      { name: 'Opera on Android', browser: 'Opera 12.16', os: 'Android', type: 'mobile' },
    ],
    ['curl/8.1.2', { name: 'Unknown device', browser: '', os: '', type: 'unknown' }],
    ['invented7/1.0 (x) y', { name: 'Unknown device', browser: '', os: '', type: 'unknown' }],
    ['', { name: 'Unknown device', browser: '', os: '', type: 'unknown' }],
  ] as const) {
    it(`is ${device.name} of ${userAgent || 'no user agent'}`, () => assert.deepEqual(deviceOf(userAgent), device))
  }

  it('costs little to recognise, whatever the text', () => {
    const startedAt = performance.now()
    deviceOf(`Mozilla/5.0 (${' '.repeat(1_000_000)}`)
    assert.ok(performance.now() - startedAt < 200)
  })
})
