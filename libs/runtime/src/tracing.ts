import {
  type Attributes,
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

/** A trace as sent with a request, a call or an event: W3C Trace Context. Empty when tracing is off. */
export type TraceCarrier = { traceparent?: string; tracestate?: string }

/** Options of a span. Without `from` its parent is the active span. */
export type SpanOptions = {
  /** `server` and `consumer` continue a received trace, `client` passes it on. */
  kind: 'server' | 'client' | 'consumer'
  attributes?: Attributes
  /** The received trace. */
  from?: TraceCarrier
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER }
const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
let isOn = false

/** Starts to record and export spans in this process. Without it, the functions below cost almost nothing. */
export async function startTracing(options: {
  service: string
  /** Base URL of an OTLP collector (HTTP, protobuf), or a processor of the spans. */
  to: string | import('@opentelemetry/sdk-trace').SpanProcessor
  /** Ratio of the traces started here that are recorded, 0 to 1. */
  sampleRatio: number
  /** Whether callers are untrusted: then the ratio applies to their traces too. By default their flag decides. */
  atEdge?: boolean
}): Promise<{ stop(): Promise<void> }> {
  const { startSdk } = await import('./tracing-sdk.ts') // slow to load
  const sdk = startSdk(options)
  isOn = true
  return sdk
}

/** Whether spans are recorded. */
export function isTracing(): boolean {
  return isOn
}

/** Runs a task in a span. An error marks the span as failed and is rethrown. */
export async function traced<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
  if (!isOn) return run(noSpan)
  const { span, active } = begin(name, options)
  try {
    return await context.with(active, () => run(span))
  } catch (error) {
    failSpan(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** Returns the stream in a span that lasts from its first item to its end. */
export function tracedStream<T>(name: string, options: SpanOptions, open: () => AsyncIterable<T>): AsyncIterable<T> {
  return isOn ? streamInSpan(name, options, open) : open()
}

async function* streamInSpan<T>(
  name: string,
  options: SpanOptions,
  open: () => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const { span, active } = begin(name, options)
  const steps = context.with(active, open)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const step = await context.with(active, () => steps.next())
      if (step.done) return
      yield step.value
    }
  } catch (error) {
    failSpan(span, error)
    throw error
  } finally {
    await steps.return?.()
    span.end()
  }
}

/** Returns the trace of the active span, to send it on. */
export function traceCarrier(): TraceCarrier {
  const carrier: TraceCarrier = {}
  if (isOn) propagation.inject(context.active(), carrier)
  return carrier
}

/** Returns the log fields of the active span. */
export function traceFields(): { traceId?: string; spanId?: string } {
  const active = trace.getSpanContext(context.active())
  return active && isSpanContextValid(active) ? { traceId: active.traceId, spanId: active.spanId } : {}
}

function begin(name: string, { kind, attributes = {}, from }: SpanOptions): { span: Span; active: Context } {
  const parent = from ? propagation.extract(ROOT_CONTEXT, from) : context.active()
  const span = trace.getTracer('rollcall').startSpan(name, { kind: kinds[kind], attributes }, parent)
  return { span, active: trace.setSpan(parent, span) }
}

/** Marks a span as failed, for code that returns an error without throwing it. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
}
