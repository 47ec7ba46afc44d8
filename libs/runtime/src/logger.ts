import pino, { type DestinationStream, type Logger as PinoLogger } from 'pino'
import { isTracing, traceFields } from './tracing.ts'

/** A structured logger: one JSON object per line. */
export type Logger = PinoLogger

/** Options of `createLogger`. */
export type LoggerOptions = { service: string; level?: string; destination?: DestinationStream }

const SENSITIVE =
  /(authorization|cookie|password|passphrase|secret|token|assertion|credentials?|api[-_]?key|private[-_]?key)$/i
const HIDDEN = '[redacted]'
const MAX_DEPTH = 6
const sensitiveNames = new Map<string, boolean>()

/**
 * Creates the logger of a service. Redacts values of sensitive names (`authorization`, `password`, `…Token`, `apiKey`)
 * at any depth and in any case, also in bindings and errors.
 */
export function createLogger({ service, level = 'info', destination }: LoggerOptions): Logger {
  const logger = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      ...(isTracing() && { mixin: traceFields }),
      formatters: { level: label => ({ level: label }), log: redact },
      serializers: { err: error => redact({ ...pino.stdSerializers.err(error) }) },
    },
    destination ?? pino.destination({ fd: 1, sync: true }), // sync: the last lines before an exit matter most
  )
  // Formatters do not see the bindings of a child; every child inherits this method.
  const { child } = logger
  logger.child = function redactedChild(this: Logger, bindings, options) {
    return child.call(this, redact(bindings), options)
  } as typeof child
  return logger
}

function redact(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) copy[name] = isSensitive(name) ? HIDDEN : inside(fields[name], depth)
  return copy
}

function isSensitive(name: string): boolean {
  const known = sensitiveNames.get(name)
  if (known !== undefined) return known
  const result = SENSITIVE.test(name)
  if (sensitiveNames.size < 1000) sensitiveNames.set(name, result) // bounded, because names can come from data
  return result
}

function inside(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map(item => inside(item, depth + 1))
  return isPlain(value) ? redact(value, depth + 1) : value
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
