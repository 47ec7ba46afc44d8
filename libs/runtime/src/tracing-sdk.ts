import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'

/**
 * Sets the OpenTelemetry SDK up for this process. Spans are made by hand in the few places that every request passes
 * (the gateway's exchange, the rpc client and server, the consumer of events), so nothing has to be patched at load.
 */
export function startSdk({
  service,
  to,
  sampleRatio,
  atEdge = false,
}: {
  service: string
  to: string | SpanProcessor
  sampleRatio: number
  atEdge?: boolean
}): { stop(): Promise<void> } {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'rollcall' }),
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(sampleRatio),
      ...(atEdge && { remoteParentSampled: byChance(sampleRatio) }),
    }),
    spanProcessors: [typeof to === 'string' ? exporterTo(to) : to],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(provider)
  return { stop: () => provider.shutdown() }
}

function exporterTo(endpoint: string): SpanProcessor {
  return new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` }),
  })
}

/** Strangers make up their own ids of traces, so at the edge it is not these that decide. */
function byChance(ratio: number): Sampler {
  const { RECORD_AND_SAMPLED, NOT_RECORD } = SamplingDecision
  return { shouldSample: () => ({ decision: Math.random() < ratio ? RECORD_AND_SAMPLED : NOT_RECORD }) }
}
