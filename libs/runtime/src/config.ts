import { z } from 'zod'

/** Raised when the environment does not hold a usable configuration. The message names each bad variable on one line, never a value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** A TCP port; 0 lets the system choose a free one. */
export const port = () => wholeNumber('a port, 0 to 65535', 0, 65_535)

/** A duration in whole milliseconds, at most a day. */
export const milliseconds = () => wholeNumber('a whole number of milliseconds, at most a day', 0, 86_400_000)

/** A whole number from `min` to `max`. */
export const whole = (min: number, max: number) => wholeNumber(`a whole number from ${min} to ${max}`, min, max)

/** A share from 0 to 1. */
export const share = () => {
  const error = 'expected a number from 0 to 1'
  return z
    .string({ error })
    .regex(/^(0|1|0?\.\d{1,6}|1\.0+)$/, { error, abort: true })
    .transform(Number)
}

/** `true` or `false` (also 1/0, yes/no, on/off). */
export const flag = () => z.stringbool({ error: 'expected true or false' })

/** A URL of one of the schemes, for example `urlOf('redis', 'rediss')`. Several hosts are allowed, as in `mongodb://a,b/name`. */
export const urlOf = (...schemes: string[]) => {
  const error = `expected a URL (${schemes.join(', ')})`
  const hasScheme = (text: string) => schemes.some(scheme => text.startsWith(`${scheme}://`))
  return z.string({ error }).refine(text => hasScheme(text) && /:\/\/[^\s/]/.test(text), { error })
}

/** One or more values separated by commas. */
export const list = () =>
  z
    .string({ error: 'expected values separated by commas' })
    .transform(text =>
      text
        .split(',')
        .map(value => value.trim())
        .filter(Boolean),
    )
    .refine(values => values.length > 0, { error: 'expected values separated by commas' })

/** A secret of at least `minLength` characters. */
export const secret = (minLength = 32) => {
  const error = `expected a secret of at least ${minLength} characters`
  return z.string({ error }).min(minLength, { error })
}

/**
 * A setting that a function reads, and refuses by throwing: keys, addresses. What it throws may quote the value and is
 * dropped; `expected` is what the operator is told.
 */
export const parsedBy = <T>(parse: (text: string) => T, expected: string) => {
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

/** The variables every service knows; spread it into the service's own schema. */
export const baseConfig = {
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** The address the servers listen on; loopback unless a container says otherwise. */
  LISTEN_HOST: z.string().default('127.0.0.1'),
  /** Port of health and metrics. */
  INTERNAL_PORT: port().default(0),
  /** All of a graceful stop has to happen within this. Below the orchestrator's own grace period. */
  SHUTDOWN_GRACE_MS: milliseconds().default(25_000),
  /** Wait between "not ready" and closing, so that load balancers stop sending first. */
  SHUTDOWN_DRAIN_MS: milliseconds().default(0),
  /** Base URL of an OpenTelemetry collector (OTLP over HTTP); without it nothing is traced. */
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http', 'https').optional(),
  /** Share of the traces that is recorded, 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: share().default(1),
}

const baseSchema = z.object(baseConfig)

/** What `baseConfig` yields. */
export type BaseConfig = z.infer<typeof baseSchema>

/**
 * Reads the configuration from the environment.
 * The keys of the schema are the names of the variables; a blank variable counts as absent.
 * Throws `ConfigError`, which names every bad variable and what was expected of it.
 */
export const loadConfig = <S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv = process.env): z.infer<S> => {
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
  return z // digits only: coercion would take '1e3', '0x10', ' ' and 'true' for numbers
    .string({ error })
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine(value => value >= min && value <= max, { error })
}
