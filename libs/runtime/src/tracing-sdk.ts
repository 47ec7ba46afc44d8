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
 * Sets up the OpenTelemetry SDK for this process. Spans are created manually where every request passes: the gateway's
 * exchange, the rpc client and server, the event consumer. So no module is patched at load.
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

/** Samples at random: at the edge clients choose the trace ids, so the ids must not decide. */
function byChance(ratio: number): Sampler {
  const { RECORD_AND_SAMPLED, NOT_RECORD } = SamplingDecision
  return { shouldSample: () => ({ decision: Math.random() < ratio ? RECORD_AND_SAMPLED : NOT_RECORD }) }
}
