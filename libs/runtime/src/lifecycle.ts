import { DiagLogLevel, diag } from '@opentelemetry/api'
import { type BaseConfig, ConfigError } from './config.ts'
import { createHealth, type Health } from './health.ts'
import { startInternalServer } from './internal-server.ts'
import { createLogger, type Logger } from './logger.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { pause, within } from './time.ts'
import { startTracing } from './tracing.ts'

/** What a service is given to start with. */
export type Lifecycle = {
  logger: Logger
  health: Health
  metrics: Metrics
  /** Fires when a stop begins, before the first step. For loops that should not begin another round. */
  shutdown: AbortSignal
  /** Registers how to let go of something. The steps run one by one, the last registered first: register what others need first. */
  onStop(name: string, stop: () => Promise<void>): void
}

/** How a stop ended: every step done, or a step failed or hung (the log names it). */
export type StopOutcome = 'clean' | 'failed'

/** A lifecycle and the hand that ends it; for `runService`, and for tests that start a service in their own process. */
export type OwnedLifecycle = Lifecycle & {
  /** Not ready → wait → the steps, all within the grace period. A second call joins the first. Never rejects. */
  stop(reason: string): Promise<StopOutcome>
}

/** What `createLifecycle` takes: times in milliseconds. */
export type LifecycleOptions = { service: string; logger: Logger; graceMs?: number; drainMs?: number }

type Step = { name: string; stop: () => Promise<void> }

/** Creates the lifecycle of one service: its health, its metrics and its orderly end. */
export const createLifecycle = (options: LifecycleOptions): OwnedLifecycle => {
  const { service, logger, graceMs = 25_000, drainMs = 0 } = options
  const health = createHealth({ logger })
  const shutdown = new AbortController()
  const steps: Step[] = []
  let current = 'drain'
  let failed = false
  let stopping: Promise<StopOutcome> | undefined

  const runStep = async ({ name, stop }: Step): Promise<void> => {
    current = name
    const startedAt = performance.now()
    try {
      await stop()
      logger.info({ step: name, ms: since(startedAt) }, 'stopped')
    } catch (err) {
      failed = true
      logger.error({ step: name, ms: since(startedAt), err }, 'stop step failed')
    }
  }

  const runSteps = async (afterMs: number, signal: AbortSignal): Promise<void> => {
    await pause(afterMs, signal)
    for (let step = steps.pop(); step && !signal.aborted; step = steps.pop()) await runStep(step)
  }

  const stopAll = async (reason: string): Promise<StopOutcome> => {
    const startedAt = performance.now()
    logger.info({ reason, graceMs, drainMs, steps: steps.length }, 'stopping')
    const wasServing = health.drain() // if not, nobody has to leave first
    shutdown.abort()
    try {
      await within(graceMs, 'graceful stop', signal => runSteps(wasServing ? drainMs : 0, signal))
    } catch (err) {
      logger.fatal({ step: current, left: steps.map(step => step.name), err }, 'grace period is over, a step hangs')
      return 'failed'
    }
    logger.info({ ms: since(startedAt), failed }, 'all stopped')
    return failed ? 'failed' : 'clean'
  }

  return {
    logger,
    health,
    metrics: createMetrics(service),
    shutdown: shutdown.signal,
    onStop: (name, stop) => void steps.push({ name, stop }),
    stop: reason => {
      stopping ??= stopAll(reason)
      return stopping
    },
  }
}

/** What `runService` takes. `start` yields the port it serves, for the log; `atEdge` is who serves strangers. */
export type ServiceOptions<C extends BaseConfig> = {
  name: string
  atEdge?: boolean
  config: () => C
  start: (config: C, lifecycle: Lifecycle) => Promise<{ port: number }>
}

/**
 * The body of a service's `main.ts`: configuration, internal server, start, and the end.
 * SIGTERM or SIGINT stop gracefully: exit 0, or 1 if a step failed or the grace period ran out.
 * An unusable configuration, a failing start, an uncaught exception or an unhandled rejection are logged and end with 1.
 */
export const runService = <C extends BaseConfig>({
  name,
  atEdge = false,
  config: load,
  start,
}: ServiceOptions<C>): Promise<void> =>
  runProcess({ name, atEdge, load }, async (config, lifecycle) => {
    const startedAt = performance.now()
    const internal = await startInternalServer({ ...lifecycle, port: config.INTERNAL_PORT, host: config.LISTEN_HOST })
    lifecycle.onStop('internal server', internal.stop)
    const started = await start(config, lifecycle)
    lifecycle.health.serving()
    lifecycle.logger.info({ port: started.port, internalPort: internal.port, ms: since(startedAt) }, 'serving')
  })

/** What `runTask` takes. */
export type TaskOptions<C extends BaseConfig> = {
  name: string
  config: () => C
  run: (config: C, lifecycle: Lifecycle) => Promise<void>
}

/** The body of a program that does one thing and ends, such as a command of `rollcall-admin`: as `runService`, without health and metrics. */
export const runTask = <C extends BaseConfig>({ name, config: load, run }: TaskOptions<C>): Promise<void> =>
  runProcess({ name, atEdge: false, load }, async (config, lifecycle) => {
    await run(config, lifecycle)
    process.exit((await lifecycle.stop('done')) === 'clean' ? 0 : 1)
  })

async function runProcess<C extends BaseConfig>(
  { name, atEdge, load }: { name: string; atEdge: boolean; load: () => C },
  body: (config: C, lifecycle: OwnedLifecycle) => Promise<void>,
): Promise<void> {
  const config = loadOrExit(name, load)
  const tracing = await startTracingTo(config, { service: name, atEdge }) // before the logger, whose lines carry the trace
  const logger = createLogger({ service: name, level: config.LOG_LEVEL })
  const { SHUTDOWN_GRACE_MS: graceMs, SHUTDOWN_DRAIN_MS: drainMs } = config
  const lifecycle = createLifecycle({ service: name, logger, graceMs, drainMs })

  const end = async (reason: string): Promise<void> => process.exit((await lifecycle.stop(reason)) === 'clean' ? 0 : 1)
  const crash = (err: unknown, origin: string): void => {
    logger.fatal({ err, origin }, 'crashed')
    process.exit(1)
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', err => crash(err, 'unhandledRejection'))

  try {
    if (tracing) {
      reportTracing(logger)
      // A collector that is away is no reason to end badly.
      lifecycle.onStop('tracing', () => tracing.stop().catch(err => logger.warn({ err }, 'last spans not exported')))
    }
    logger.info({ pid: process.pid, node: process.version }, 'starting')
    await body(config, lifecycle)
  } catch (err) {
    if (lifecycle.shutdown.aborted) return // a stop came first and ends the process
    logger.fatal({ err }, 'start failed')
    await lifecycle.stop('start failed')
    process.exit(1)
  }
}

async function startTracingTo(config: BaseConfig, about: { service: string; atEdge: boolean }) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: to, OTEL_TRACES_SAMPLER_ARG: sampleRatio } = config
  return to === undefined ? undefined : startTracing({ ...about, to, sampleRatio })
}

/** What OpenTelemetry has to complain about, a collector that does not answer for one, goes into the log. */
function reportTracing(logger: Logger): void {
  const warn = (message: string, ...details: unknown[]) => logger.warn({ details }, message)
  const quiet = () => {}
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)
}

function loadOrExit<C>(service: string, load: () => C): C {
  try {
    return load()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${service} cannot start:\n${error.message.replace(/^/gm, '  ')}\n`)
    process.exit(1)
  }
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}
