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

/** A trace as it travels with a request, a call or an event: W3C Trace Context. Empty where nothing is traced. */
export type TraceCarrier = { traceparent?: string; tracestate?: string }

/** What a span is about. Without `from` it belongs to the span that is active. */
export type SpanOptions = {
  /** Which side of what this is: `server` and `consumer` take a trace over, `client` hands it on. */
  kind: 'server' | 'client' | 'consumer'
  attributes?: Attributes
  /** Where the trace comes from. */
  from?: TraceCarrier
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER }
const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
let isOn = false

/** Starts to record and export spans, in this process for good. Without it all of the functions below cost next to nothing. */
export async function startTracing(options: {
  service: string
  /** Base URL of an OTLP collector (HTTP, protobuf), or a processor that takes the spans. */
  to: string | import('@opentelemetry/sdk-trace').SpanProcessor
  /** Share of the traces begun here that is recorded, 0 to 1. */
  sampleRatio: number
  /** Whether callers are strangers: of the traces that they want recorded, the same share is. Default: they have the say. */
  atEdge?: boolean
}): Promise<{ stop(): Promise<void> }> {
  const { startSdk } = await import('./tracing-sdk.ts') // it takes its time to load
  const sdk = startSdk(options)
  isOn = true
  return sdk
}

/** Whether spans are recorded. */
export const isTracing = (): boolean => isOn

/** Runs something in a span. What it throws marks the span as failed and is thrown on. */
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

/** Runs through a stream in a span, from its first step to its end. */
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

/** The trace of the active span, to be sent along. */
export function traceCarrier(): TraceCarrier {
  const carrier: TraceCarrier = {}
  if (isOn) propagation.inject(context.active(), carrier)
  return carrier
}

/** What log lines say of the active span. */
export function traceFields(): { traceId?: string; spanId?: string } {
  const active = trace.getSpanContext(context.active())
  return active && isSpanContextValid(active) ? { traceId: active.traceId, spanId: active.spanId } : {}
}

function begin(name: string, { kind, attributes = {}, from }: SpanOptions): { span: Span; active: Context } {
  const parent = from ? propagation.extract(ROOT_CONTEXT, from) : context.active()
  const span = trace.getTracer('rollcall').startSpan(name, { kind: kinds[kind], attributes }, parent)
  return { span, active: trace.setSpan(parent, span) }
}

/** Marks a span as failed, for those that answer an error without throwing it. */
export function failSpan(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
}
