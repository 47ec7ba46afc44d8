import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { packAnswer } from '@rollcall/answers'
import type { Redis } from 'ioredis'
import { erasersOf, type People } from './erasers.ts'

describe('answers that the gateway keeps', () => {
  it('are erased if a text in them names the person', async () => {
    const answer = (value: object) => packAnswer('application/json', Buffer.from(JSON.stringify(value)))
    const kept = new Map(
      Object.entries({
        named: answer({ message: 'Regards\nbob@example.com' }),
        other: answer({ message: 'Regards\njimbob@example.com' }),
        csv: packAnswer('text/csv', Buffer.from('email\nbob@example.com')),
      }).map(([key, answer]) => [key, JSON.stringify({ request: key, answer })]),
    )
    const redis = {
      zrange: async () => [...kept.keys()],
      mget: async (keys: string[]) => keys.map(key => kept.get(key)),
      set: async (key: string, text: string) => kept.set(key, text),
    } as unknown as Redis
    const { gateway } = erasersOf({} as People, { redis, prefix: '' })
    const ids = { organizationId: 'a'.repeat(24), contactId: 'b'.repeat(24) }
    const bob = { ...ids, emailKeys: ['bob@example.com'], names: [] }
    assert.equal(await gateway!(bob, AbortSignal.abort()), 2)
    const left = [...kept].filter(([, text]) => 'answer' in JSON.parse(text)).map(([key]) => key)
    assert.deepEqual(left, ['other'])
  })
})
