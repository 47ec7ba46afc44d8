import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { startTracing, traced } from './tracing.ts'

test('at the edge the ratio decides what is recorded, not the caller', async () => {
  const exporter = new InMemorySpanExporter()
  await startTracing({ service: 'test', to: new SimpleSpanProcessor({ exporter }), sampleRatio: 0, atEdge: true })
  const from = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
  await traced('request', { kind: 'server', from }, async () => {})
  assert.deepEqual(exporter.getFinishedSpans(), [])
})
