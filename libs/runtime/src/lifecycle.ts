import { DiagLogLevel, diag } from '@opentelemetry/api'
import { type BaseConfig, ConfigError } from './config.ts'
import { createHealth, type Health } from './health.ts'
import { startInternalServer } from './internal-server.ts'
import { createLogger, type Logger } from './logger.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { pause, within } from './time.ts'
import { startTracing } from './tracing.ts'

/** What a service gets at its start. */
export type Lifecycle = {
  logger: Logger
  health: Health
  metrics: Metrics
  /** Fires when a stop begins, before the first step. Loops end with their current round. */
  shutdown: AbortSignal
  /**
   * Adds a stop step. Steps run one by one, last registered first: register dependencies first. `late` aborts once a step
   * has used its part of the grace period: it then cuts what it waits for, so that the others get their turn.
   */
  onStop(name: string, stop: StopStep): void
}

/** Stops one part of a service; see `onStop`. */
export type StopStep = (late: AbortSignal) => Promise<void>

/** The outcome of a stop: `failed` if a step failed or hung (the log names it). */
export type StopOutcome = 'clean' | 'failed'

/** A lifecycle with its `stop`: for `runService`, and for tests that start a service in their own process. */
export type OwnedLifecycle = Lifecycle & {
  /** Not ready → drain → the steps, all within the grace period. A second call joins the first. Never rejects. */
  stop(reason: string): Promise<StopOutcome>
}

/** Options of `createLifecycle`; times in milliseconds. */
export type LifecycleOptions = { service: string; logger: Logger; graceMs?: number; drainMs?: number }

type Step = { name: string; stop: StopStep }

/** The part of the remaining grace period that a step may use before it has to cut what it waits for. */
const PART_OF_STEP = 0.6

/** Creates the lifecycle of one service: health, metrics and graceful stop. */
export function createLifecycle(options: LifecycleOptions): OwnedLifecycle {
  const { service, logger, graceMs = 25_000, drainMs = 0 } = options
  const health = createHealth({ logger })
  const shutdown = new AbortController()
  const steps: Step[] = []
  let current = 'drain'
  let failed = false
  let stopping: Promise<StopOutcome> | undefined

  const runStep = async ({ name, stop }: Step, endsAt: number): Promise<void> => {
    current = name
    const startedAt = performance.now()
    try {
      const lateAfterMs = Math.max(0, Math.round(PART_OF_STEP * (endsAt - startedAt)))
      await stop(AbortSignal.timeout(lateAfterMs))
      logger.info({ step: name, ms: since(startedAt) }, 'stopped')
    } catch (err) {
      failed = true
      logger.error({ step: name, ms: since(startedAt), err }, 'stop step failed')
    }
  }

  const runSteps = async (afterMs: number, signal: AbortSignal): Promise<void> => {
    const endsAt = performance.now() + graceMs
    await pause(afterMs, signal)
    for (let step = steps.pop(); step && !signal.aborted; step = steps.pop()) await runStep(step, endsAt)
  }

  const stopAll = async (reason: string): Promise<StopOutcome> => {
    const startedAt = performance.now()
    logger.info({ reason, graceMs, drainMs, steps: steps.length }, 'stopping')
    const wasServing = health.drain() // if it was not, there are no clients to drain
    shutdown.abort()
    try {
      await within(graceMs, 'graceful stop', signal => runSteps(wasServing ? drainMs : 0, signal))
    } catch (err) {
      logger.fatal({ step: current, left: steps.map(step => step.name), err }, 'grace period exceeded, stop step hangs')
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

/** Options of `runService`. `start` returns the served port; `atEdge`: untrusted clients call the service. */
export type ServiceOptions<C extends BaseConfig> = {
  name: string
  atEdge?: boolean
  config: () => C
  start: (config: C, lifecycle: Lifecycle) => Promise<{ port: number }>
}

/**
 * Runs a service, as the body of its `main.ts`: configuration, internal server, start, graceful stop.
 * SIGTERM and SIGINT stop it gracefully: exit 0, or 1 if a step failed or exceeded the grace period.
 * Invalid configuration, a failed start, an uncaught exception or an unhandled rejection are logged and exit with 1.
 */
export function runService<C extends BaseConfig>({
  name,
  atEdge = false,
  config: load,
  start,
}: ServiceOptions<C>): Promise<void> {
  return runProcess({ name, atEdge, load }, async (config, lifecycle) => {
    const startedAt = performance.now()
    const internal = await startInternalServer({ ...lifecycle, port: config.INTERNAL_PORT, host: config.LISTEN_HOST })
    lifecycle.onStop('internal server', internal.stop)
    const started = await start(config, lifecycle)
    lifecycle.health.serving()
    lifecycle.logger.info({ port: started.port, internalPort: internal.port, ms: since(startedAt) }, 'serving')
  })
}

/** Options of `runTask`. */
export type TaskOptions<C extends BaseConfig> = {
  name: string
  config: () => C
  run: (config: C, lifecycle: Lifecycle) => Promise<void>
}

/** Runs a task once and exits, for example a command of `rollcall-admin`: like `runService`, without health and metrics. */
export function runTask<C extends BaseConfig>({ name, config: load, run }: TaskOptions<C>): Promise<void> {
  return runProcess({ name, atEdge: false, load }, async (config, lifecycle) => {
    await run(config, lifecycle)
    process.exit((await lifecycle.stop('done')) === 'clean' ? 0 : 1)
  })
}

async function runProcess<C extends BaseConfig>(
  { name, atEdge, load }: { name: string; atEdge: boolean; load: () => C },
  body: (config: C, lifecycle: OwnedLifecycle) => Promise<void>,
): Promise<void> {
  const config = loadOrExit(name, load)
  const tracing = await startTracingTo(config, { service: name, atEdge }) // before the logger, which adds trace ids
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
      // An unreachable collector must not change the exit code.
      lifecycle.onStop('tracing', () => tracing.stop().catch(err => logger.warn({ err }, 'last spans not exported')))
    }
    logger.info({ pid: process.pid, node: process.version }, 'starting')
    await body(config, lifecycle)
  } catch (err) {
    if (lifecycle.shutdown.aborted) return // the stop that is running exits
    logger.fatal({ err }, 'start failed')
    await lifecycle.stop('start failed')
    process.exit(1)
  }
}

async function startTracingTo(config: BaseConfig, options: { service: string; atEdge: boolean }) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: to, OTEL_TRACES_SAMPLER_ARG: sampleRatio } = config
  return to === undefined ? undefined : startTracing({ ...options, to, sampleRatio })
}

/** Logs OpenTelemetry's warnings and errors, for example an unreachable collector. */
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
