import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { startTracing } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { type Api, bodyOf, makeToken } from './api.ts'
import { startStack, type TestStack } from './stack.ts'

const traceId = `${'c0ffee'.repeat(5)}12`

describe('a request that is traced', () => {
  const exporter = new InMemorySpanExporter()
  let stack: TestStack
  let owner: Api

  before(async () => {
    await startTracing({ service: 'test', to: new SimpleSpanProcessor({ exporter }), sampleRatio: 0 })
    stack = await startStack()
    owner = (await makeToken(stack.owner)).api
    await bodyOf(owner.get('/api/audience')) // caches the credential
  })
  after(() => stack?.stop())

  /** Returns a client whose requests belong to the trace of this id. */
  const traced = (id: string) => owner.with({ traceparent: `00-${id}-${'a'.repeat(16)}-01` })
  const spansOf = (id: string): ReadableSpan[] =>
    exporter.getFinishedSpans().filter(span => span.spanContext().traceId === id)
  const lineage = (span: ReadableSpan | undefined, all: readonly ReadableSpan[]): string[] => {
    if (!span) return []
    const parent = all.find(one => one.spanContext().spanId === span.parentSpanContext?.spanId)
    return [...lineage(parent, all), span.name]
  }

  it('has one hop, and none for a cached credential', async () => {
    await bodyOf(traced(traceId).get('/api/audience'))
    const spans = spansOf(traceId)
    const names = spans.map(({ name }) => name)
    const rpc = 'rollcall.audience.v1.Contacts'
    console.log(`P5  ${names.length} spans, hops for the credential 0, for the call 1`)
    assert.deepEqual(names, [`${rpc}/listContacts`, `${rpc}/ListContacts`, 'GET /api/audience'])
    assert.deepEqual(lineage(spans[0], spans), ['GET /api/audience', `${rpc}/ListContacts`, `${rpc}/listContacts`])
  })

  it('can be followed through the event it caused, into the service that consumed it', async () => {
    const id = traceId.replace('12', '34')
    const made = await bodyOf(
      traced(id).post<{ id: string }>('/api/users', {
        name: 'Account One',
        email: 'one@example.com',
        password: 'long enough',
      }),
      201,
    )
    const isConsumed = () => spansOf(id).find(({ name }) => /audience\.on-user-events user\.created$/.test(name))
    const deadline = Date.now() + scaledTimeout(20_000)
    while (!isConsumed() && Date.now() < deadline) await bodyOf(stack.owner.get(`/api/users/${made.id}`))
    const spans = spansOf(id)
    const [request, , handler] = lineage(isConsumed(), spans)
    assert.equal(request, 'POST /api/users')
    assert.equal(handler, 'rollcall.identity.v1.Users/createUser')
  })
})
