export { type Budget, type BudgetOptions, createBudget, type Hold } from './budget.ts'
export {
  type BaseConfig,
  baseConfig,
  ConfigError,
  flag,
  list,
  loadConfig,
  milliseconds,
  parsedBy,
  port,
  secret,
  urlOf,
  whole,
} from './config.ts'
export type { Event } from './event.ts'
export type { Health, Readiness, ReadyCheck } from './health.ts'
export {
  createLifecycle,
  type Lifecycle,
  type LifecycleOptions,
  type OwnedLifecycle,
  runService,
  runTask,
  type ServiceOptions,
  type StopOutcome,
  type StopStep,
  type TaskOptions,
} from './lifecycle.ts'
export { createLogger, type Logger, type LoggerOptions } from './logger.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { currentOrigin, type Origin, withOrigin } from './origin.ts'
export { quoted } from './quoted.ts'
export { backoffMs, type RetryOptions, retry } from './retry.ts'
export { createTally, type Tally } from './tally.ts'
export { pause, TimeoutError, within, withJitter } from './time.ts'
export {
  failSpan,
  isTracing,
  type SpanOptions,
  startTracing,
  type TraceCarrier,
  traceCarrier,
  traced,
  tracedStream,
} from './tracing.ts'
