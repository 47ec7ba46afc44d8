import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'

type Page = { docs: { id: string }[]; totalDocs: number }

let stack: TestStack
let api: Api

before(async () => {
  stack = await startStack({ settings: { ...manyAddresses, MONGODB_FILTERED_READS: '2', MONGODB_STREAMS: '1' } })
  api = fromElsewhere(stack.owner)
  for (const name of ['foo and bar', 'bar', 'x'.repeat(200)])
    await bodyOf(api.post('/api/audience', { email: `c${name.length}@example.com`, name }), 201)
})
after(() => stack?.stop())

const filtered = ($regex: string) => api.get<Page>('/api/audience', { filter: { name: { $regex } } })

describe('finding 10: filters', () => {
  it('patterns that could take long are refused, by what they are', async () => {
    for (const pattern of [`${'a?'.repeat(18)}${'a'.repeat(18)}b`, 'a.*b.*c', '(a?){0,9}b', 'x(a|b)(a|b)(a|b).*y']) {
      const { status, body } = await filtered(pattern)
      assert.equal(status, 400, pattern)
      assert.match((body as { message?: string }).message ?? '', /^invalid field -> filter: \$regex of name /)
      const list = await bodyOf(api.post<{ id: string }>('/api/audience-lists', { name: pattern.slice(0, 20) }), 201)
      const job = await api.post(`/api/audience-lists/${list.id}/contacts`, { filter: { name: { $regex: pattern } } })
      assert.equal(job.status, 400, pattern)
    }
  })

  it('common ones find what they say', async () => {
    for (const [pattern, total] of [
      ['foo.*bar', 1],
      ['^foo', 1],
      ['(foo|bar)$', 2],
      ['\\w+ and', 1],
      ['^x+$', 1],
    ] as const)
      assert.equal((await bodyOf(filtered(pattern))).totalDocs, total, pattern)
  })

  it('an organization has a limit of concurrent filtered lists, and gets Retry-After', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => filtered(`bar|nobody ${index}`)))
    const refused = answers.filter(({ status }) => status === 429)
    assert.ok(refused.length > 0 && refused.length < 20, `${refused.length} of 20`)
    assert.deepEqual(refused[0]?.body, {
      success: false,
      message: 'limit reached: 2 filtered lists at once per organization',
    })
    assert.equal(refused[0]?.headers.get('retry-after'), '1')
    assert.equal((await filtered('bar')).status, 200)
  })
})

describe('finding 12: streams', () => {
  it('an organization has a limit of concurrent streams', async () => {
    const exports = () => api.get('/api/audience/export')
    const answers = await Promise.all(Array.from({ length: 12 }, exports))
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 429]))
    assert.equal((await exports()).status, 200)
    assert.equal((await api.get('/api/audience', { pagination: 'false' })).status, 200)
  })
})
