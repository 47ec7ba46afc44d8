import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

type Page = { docs: unknown[]; totalDocs: number }

describe('sending domains', () => {
  let stack: TestStack
  before(async () => {
    stack = await startStack()
  })
  after(() => stack.stop())

  it('lists none at first, and knows none', async () => {
    const page = await bodyOf(stack.owner.get<Page>('/api/emails/domains'))
    assert.deepEqual([page.docs, page.totalDocs], [[], 0])
    const refusal = await bodyOf(stack.owner.get(`/api/emails/domains/${'f'.repeat(24)}`), 404)
    assert.deepEqual(refusal, { error: true, message: 'domain not found' })
  })
})
