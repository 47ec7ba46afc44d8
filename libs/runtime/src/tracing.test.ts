import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { isTracing, startTracing, traceCarrier, traced, tracedStream, traceFields } from './tracing.ts'

const parent = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }

async function* numbers() {
  yield traceCarrier().traceparent
  yield traceCarrier().traceparent
}

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of stream) all.push(item)
  return all
}

describe('tracing', () => {
  const exporter = new InMemorySpanExporter()

  it('does nothing until it is started', async () => {
    assert.equal(isTracing(), false)
    assert.equal(await traced('x', { kind: 'server', from: parent }, async () => 7), 7)
    assert.deepEqual(await collected(tracedStream('x', { kind: 'client' }, numbers)), [undefined, undefined])
    assert.deepEqual([traceCarrier(), traceFields()], [{}, {}])
  })

  describe('started', () => {
    before(async () => {
      await startTracing({ service: 'test', to: new SimpleSpanProcessor({ exporter }), sampleRatio: 1 })
    })

    const spans = (): ReadableSpan[] => exporter.getFinishedSpans().splice(0)

    it('continues a received trace, and passes it on', async () => {
      exporter.reset()
      const sent = await traced('outer', { kind: 'server', from: parent }, () =>
        traced('inner', { kind: 'client' }, async () => traceCarrier()),
      )
      const [inner, outer] = spans()
      assert.equal(outer?.spanContext().traceId, 'a'.repeat(32))
      assert.equal(outer?.parentSpanContext?.spanId, 'b'.repeat(16))
      assert.equal(inner?.parentSpanContext?.spanId, outer?.spanContext().spanId)
      assert.equal(sent.traceparent, `00-${'a'.repeat(32)}-${inner?.spanContext().spanId}-01`)
    })

    it('starts a trace when the received one is invalid', async () => {
      exporter.reset()
      await traced('x', { kind: 'server', from: { traceparent: 'nonsense' } }, async () => undefined)
      const [span] = spans()
      assert.equal(span?.parentSpanContext, undefined)
      assert.match(span?.spanContext().traceId ?? '', /^[0-9a-f]{32}$/)
    })

    it('marks a span as failed, and rethrows', async () => {
      exporter.reset()
      const failing = traced('x', { kind: 'client' }, async () => assert.fail('no luck'))
      await assert.rejects(failing, /no luck/)
      assert.deepEqual(spans()[0]?.status, { code: SpanStatusCode.ERROR, message: 'no luck' })
    })

    it('spans a stream from its first step to its end', async () => {
      exporter.reset()
      const [first, second] = await collected(tracedStream('stream', { kind: 'client' }, numbers))
      const [span] = spans()
      assert.equal(first, second)
      assert.ok(first?.includes(span?.spanContext().spanId ?? 'none'))
    })

    it('ends the span of a stream that is left early', async () => {
      exporter.reset()
      for await (const _ of tracedStream('stream', { kind: 'client' }, numbers)) break
      assert.equal(spans().length, 1)
    })

    it('returns the trace ids for log lines', async () => {
      await traced('x', { kind: 'server', from: parent }, async () => {
        assert.equal(traceFields().traceId, 'a'.repeat(32))
      })
      assert.deepEqual(traceFields(), {})
    })
  })
})
