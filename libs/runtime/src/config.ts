import { z } from 'zod'

/** Thrown when the configuration is invalid. The message names each invalid variable on a line, never a value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** A TCP port; 0 lets the system choose a free one. */
export function port() {
  return wholeNumber('a port, 0 to 65535', 0, 65_535)
}

/** A duration in whole milliseconds, at most a day. */
export function milliseconds() {
  return wholeNumber('a whole number of milliseconds, at most a day', 0, 86_400_000)
}

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number) {
  return wholeNumber(`a whole number from ${min} to ${max}`, min, max)
}

/** A ratio from 0 to 1. */
export function share() {
  const error = 'expected a number from 0 to 1'
  return z
    .string({ error })
    .regex(/^(0|1|0?\.\d{1,6}|1\.0+)$/, { error, abort: true })
    .transform(Number)
}

/** `true` or `false` (also 1/0, yes/no, on/off). */
export function flag() {
  return z.stringbool({ error: 'expected true or false' })
}

/** A URL with one of the schemes: `urlOf('redis', 'rediss')`. Several hosts are allowed: `mongodb://a,b/name`. */
export function urlOf(...schemes: string[]) {
  const error = `expected a URL (${schemes.join(', ')})`
  const hasScheme = (text: string) => schemes.some(scheme => text.startsWith(`${scheme}://`))
  return z.string({ error }).refine(text => hasScheme(text) && /:\/\/[^\s/]/.test(text), { error })
}

/** One or more values separated by commas. */
export function list() {
  const error = 'expected values separated by commas'
  return z
    .string({ error })
    .transform(text =>
      text
        .split(',')
        .map(value => value.trim())
        .filter(Boolean),
    )
    .refine(values => values.length > 0, { error })
}

/** A secret of at least `minLength` characters. */
export function secret(minLength = 32) {
  const error = `expected a secret of at least ${minLength} characters`
  return z.string({ error }).min(minLength, { error })
}

/**
 * A setting that `parse` reads, or rejects by throwing: keys, addresses. The operator sees `expected`.
 * The error of `parse` is dropped, because it may quote the value.
 */
export function parsedBy<T>(parse: (text: string) => T, expected: string) {
  const error = `expected ${expected}`
  return z.string({ error }).transform((text, context): T => {
    try {
      return parse(text)
    } catch {
      context.issues.push({ code: 'custom', message: error, input: undefined })
      return z.NEVER
    }
  })
}

/** The variables that every service reads; spread it into the service's own schema. */
export const baseConfig = {
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** The address that the servers listen on. Loopback by default; images set it. */
  LISTEN_HOST: z.string().default('127.0.0.1'),
  /** The port of health and metrics. */
  INTERNAL_PORT: port().default(0),
  /** Limit of the whole graceful stop. Keep it below the orchestrator's grace period. */
  SHUTDOWN_GRACE_MS: milliseconds().default(25_000),
  /** Delay between "not ready" and closing, so that load balancers stop sending first. */
  SHUTDOWN_DRAIN_MS: milliseconds().default(0),
  /** Base URL of an OpenTelemetry collector (OTLP over HTTP); without it, tracing is off. */
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http', 'https').optional(),
  /** Ratio of traces that are recorded, 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: share().default(1),
}

const baseSchema = z.object(baseConfig)

/** The parsed values of `baseConfig`. */
export type BaseConfig = z.infer<typeof baseSchema>

/**
 * Reads the configuration from the environment.
 * The keys of the schema are the names of the variables; a blank variable counts as missing.
 * Throws `ConfigError`, which names every invalid variable and its expected value.
 */
export function loadConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv = process.env): z.infer<S> {
  const given = Object.fromEntries(Object.keys(schema.shape).flatMap(name => (env[name] ? [[name, env[name]]] : [])))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const lines = result.error.issues.map(issue => {
    const name = issue.path.join('.') || 'configuration'
    return `${name} is ${name in given ? 'not usable' : 'missing'}: ${issue.message}`
  })
  throw new ConfigError(lines.join('\n'))
}

function wholeNumber(what: string, min: number, max: number) {
  const error = `expected ${what}`
  return z // digits only: coercion also accepts '1e3', '0x10', ' ' and 'true'
    .string({ error })
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine(value => value >= min && value <= max, { error })
}
