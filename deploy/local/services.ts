import { join } from 'node:path'
import type { BackingEnvironment } from './backing/backing.ts'
import { type Keys, keysOf } from './keys.ts'
import { freePorts, LOCALHOST } from './ports.ts'
import { SERVICES, type ServiceName } from './service-names.ts'
import { ROOT } from './settings.ts'
import { type Program, type Running, supervise, untilReady } from './supervise.ts'

const GRACE_SECONDS = 12
const READY_SECONDS = 60

/** The settings that the services of one stack share. */
export type Stack = {
  backing: BackingEnvironment
  keys: Keys
  /** The port of each service. */
  ports: Readonly<Record<ServiceName, number>>
  /** Prefix of databases, topics and keys; separates stacks that share backing services. */
  namespace: string
  /** More settings, by variable; each service reads those it knows. */
  settings: NodeJS.ProcessEnv
}

/** Returns a free port for each service. */
export async function servicePorts(): Promise<Record<ServiceName, number>> {
  const free = await freePorts(SERVICES.length)
  return Object.fromEntries(SERVICES.map((name, index) => [name, free[index]])) as Record<ServiceName, number>
}

/** Returns the environment of a service of this stack. */
export function serviceEnvironment(service: ServiceName, stack: Stack): NodeJS.ProcessEnv {
  const { backing, keys, ports, namespace, settings } = stack
  const { PUBLIC_URL = `http://localhost:${ports.gateway}` } = settings
  const addresses = SERVICES.map(name => [`${name.toUpperCase()}_ADDRESS`, `${LOCALHOST}:${ports[name]}`])
  return {
    ...backing,
    ...keysOf(service, keys),
    ...Object.fromEntries(addresses),
    PORT: String(ports[service]),
    MONGODB_DATABASE: `${namespace}rollcall_${service}`,
    TOPIC_PREFIX: namespace,
    CREDENTIAL_PREFIX: `${namespace}credential:`,
    LIMIT_PREFIX: `${namespace}limit:`,
    IDEMPOTENCY_PREFIX: `${namespace}idempotency:`,
    QUEUE_PREFIX: `${namespace}rollcall`,
    PUBLIC_URL,
    ...(leadsToConsole(service, settings) && { CONSOLE_URL: `${PUBLIC_URL.replace(/\/$/, '')}/console` }),
    DEFAULT_PROVIDER: 'self-hosted',
    MAIL_HOST: 'mail.rollcall.test',
    SHUTDOWN_GRACE_MS: String((GRACE_SECONDS - 2) * 1000),
    ...settings,
  }
}

/** Whether a service sends people to pages of the console. Messaging has a page of its own, for a stack without a console. */
function leadsToConsole(service: ServiceName, { CONSOLE_DIR }: NodeJS.ProcessEnv): boolean {
  return service === 'identity' || (service === 'messaging' && Boolean(CONSOLE_DIR))
}

/** Options of a service's process. */
export type ServiceProcess = {
  environment: NodeJS.ProcessEnv
  /** Port of health and metrics. */
  internalPort: number
  logFile: string
}

/** Starts a service as its own process. Wait for `serviceReady` before use. */
export function launchService(service: ServiceName, process: ServiceProcess): Promise<Running> {
  return supervise(programOf(service, process), {
    name: service,
    logFile: process.logFile,
    graceSeconds: GRACE_SECONDS,
  })
}

function programOf(service: ServiceName, { environment, internalPort }: ServiceProcess): Program {
  return {
    command: process.execPath,
    args: ['--max-semi-space-size=32', entryOf(service)],
    cwd: ROOT,
    env: { ...environment, INTERNAL_PORT: String(internalPort), NODE_NO_WARNINGS: '1' },
  }
}

/** The program of a service: its source, or in tests a bundle in the folder SERVICE_BUNDLES. */
function entryOf(service: ServiceName): string {
  const { SERVICE_BUNDLES } = process.env
  return SERVICE_BUNDLES ? join(SERVICE_BUNDLES, `${service}.cjs`) : join(ROOT, 'services', service, 'src', 'main.ts')
}

/** Waits until a launched service is ready; `host` is the address it listens on. */
export function serviceReady(running: Running, internalPort: number, host = LOCALHOST): Promise<void> {
  return untilReady(running, READY_SECONDS, async () => {
    const answer = await fetch(`http://${host}:${internalPort}/health/ready`, {
      signal: AbortSignal.timeout(5000),
    })
    if (!answer.ok) throw new Error(await answer.text())
  })
}
