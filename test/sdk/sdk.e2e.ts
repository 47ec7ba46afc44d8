import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, ConflictError, createClient, NotFoundError, UnauthorizedError } from '@rollcall/sdk'
import { makeToken } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

describe('the SDK', () => {
  let stack: TestStack
  let rollcall: Client
  before(async () => {
    stack = await startStack()
    const { token } = await makeToken(stack.owner)
    rollcall = createClient({ baseUrl: stack.urls[0], token })
  })
  after(() => stack.stop())

  it('creates, reads, changes and deletes a record', async () => {
    const made = await rollcall.contacts.create({ email: 'ada@example.com', name: 'Ada', tags: ['vip'] })
    assert.deepEqual([made.email, made.tags], ['ada@example.com', ['vip']])
    await rollcall.contacts.update(made.id, { name: 'Ada L.' })
    assert.equal((await rollcall.contacts.get(made.id)).name, 'Ada L.')
    await rollcall.contacts.delete(made.id)
    await assert.rejects(rollcall.contacts.get(made.id), NotFoundError)
  })

  it('answers a page when awaited, and every match when iterated', async () => {
    const emails = Array.from({ length: 25 }, (_, n) => `list${n}@example.com`)
    for (const email of emails) await rollcall.contacts.create({ email, name: '"]}\\', tags: ['listed'] })
    const matches = () =>
      rollcall.contacts.list({
        filter: { tags: 'listed', email: { $regex: '^list' } },
        sort: { createdAt: 1 },
        limit: 10,
      })
    const page = await matches()
    assert.deepEqual([page.docs.length, page.totalDocs, page.hasNextPage], [10, 25, true])
    const listed: string[] = []
    for await (const { email } of matches()) listed.push(email)
    assert.deepEqual(listed, emails)
  })

  it('rejects with an error by status, with its code and path', async () => {
    await rollcall.contacts.create({ email: 'one@example.com' })
    await assert.rejects(rollcall.contacts.create({ email: 'one@example.com' }), error => {
      assert.ok(error instanceof ConflictError)
      assert.deepEqual([error.status, error.path], [409, 'email'])
      assert.ok(error.requestId)
      return true
    })
    const stranger = createClient({ baseUrl: stack.urls[0], token: 'a:b' })
    await assert.rejects(Promise.resolve(stranger.contacts.list()), UnauthorizedError)
  })
})
