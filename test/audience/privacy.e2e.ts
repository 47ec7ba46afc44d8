import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BulkJobJson, ContactJson } from '@rollcall/protos/gen/audience-v1.ts'
import { eventually } from '@rollcall/testing/eventually'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { bodyOf } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

type Status = Pick<BulkJobJson, 'state' | 'progress' | 'result' | 'failedReason'>

describe('the data of a contact', () => {
  let stack: TestStack
  before(async () => {
    stack = await startStack()
  })
  after(() => stack?.stop())

  const create = (fields: object) => bodyOf(stack.owner.post<ContactJson>('/api/audience', fields), 201)
  const erased = async (id: string) => {
    const { jobId } = await bodyOf(stack.owner.post<{ jobId: string }>(`/api/audience/${id}/erase`, {}), 200)
    return eventually(
      'the contact is erased',
      async () => {
        const status = await bodyOf(stack.owner.get<Status>(`/api/audience/bulk/${jobId}`))
        return status.state === 'completed' && status
      },
      { withinMs: scaledTimeout(60_000) },
    )
  }

  it('is downloaded from every service, and the download is logged', async () => {
    const { id } = await create({ email: 'data@example.com', name: 'Contact One', tags: ['a'] })
    const response = await stack.owner.get<Record<string, object[]>>(`/api/audience/${id}/data`)
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename="contact.json"')
    const { contact, history, omitted } = response.body
    assert.equal(contact?.length, 1)
    assert.equal(history?.length, 1)
    assert.deepEqual(omitted, [])
  })

  it('is erased from every service', async () => {
    const { id } = await create({ email: 'gone@example.com', name: 'Contact Gone', unsubscribed: true })
    const { result, progress } = await erased(id)
    assert.equal(progress, 100)
    assert.deepEqual([...new Set(result.services.map(({ state }) => state))], ['erased'])
    assert.equal((await stack.owner.get(`/api/audience/${id}`)).status, 404)
    const again = await create({ email: 'Gone@Example.com' })
    assert.equal(again.unsubscribed, true)
  })
})
