import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Event } from '@rollcall/runtime'
import type { Context } from '../context.ts'
import { onEvent } from './on-event.ts'

describe('the event log', () => {
  it('has no mail of the installation to accounts', async () => {
    const touched = new Error('the database was touched')
    const collections = {
      of: () => {
        throw touched
      },
    }
    const { every } = onEvent({ collections } as unknown as Context)
    const logs = (type: string, data: object) => every([{ type, data } as Event])
    for (const type of ['email.queued', 'email.sent', 'email.bounced', 'email.failed']) {
      await logs(type, { kind: 'account' })
      await logs(type, {}) // as older versions published it
      await assert.rejects(logs(type, { kind: 'transactional' }), touched)
    }
    await assert.rejects(logs('email.domain.verified', {}), touched)
  })
})
