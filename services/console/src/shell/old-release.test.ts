import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { reloadForRelease } from './old-release.ts'

const SECOND = 1000

describe('a tab of an older release', () => {
  it('is reloaded for each release, but not twice for a file that stays missing', () => {
    const stored = new Map<string, string>()
    const sessionStorage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    }
    const reloadedAt: number[] = []
    for (const now of [0, SECOND, 121 * SECOND])
      reloadForRelease({ sessionStorage, location: { reload: () => void reloadedAt.push(now) } }, now)
    assert.deepEqual(reloadedAt, [0, 121 * SECOND])
  })
})
