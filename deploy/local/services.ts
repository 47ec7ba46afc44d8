import { join } from 'node:path'
import type { BackingEnvironment } from './backing/backing.ts'
import { type Keys, keysOf } from './keys.ts'
import { freePorts, LOCALHOST } from './ports.ts'
import { SERVICES, type ServiceName } from './service-names.ts'
import { ROOT } from './settings.ts'
import { type Program, type Running, supervise, untilReady } from './supervise.ts'

const GRACE_SECONDS = 12
const READY_SECONDS = 60

/** What the services of one stack share. */
export type Stack = {
  backing: BackingEnvironment
  keys: Keys
  /** Where each service listens. */
  ports: Readonly<Record<ServiceName, number>>
  /** Put before the names of databases, topics and keys: keeps stacks apart that share backing services. */
  namespace: string
  /** Settings of the services, by the names of their variables; a service takes those it knows. */
  settings: NodeJS.ProcessEnv
}

/** A free port for each service. */
export async function servicePorts(): Promise<Record<ServiceName, number>> {
  const free = await freePorts(SERVICES.length)
  return Object.fromEntries(SERVICES.map((name, index) => [name, free[index]])) as Record<ServiceName, number>
}

/** The environment a service of this stack runs in. */
export function serviceEnvironment(service: ServiceName, stack: Stack): NodeJS.ProcessEnv {
  const { backing, keys, ports, namespace, settings } = stack
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
    PUBLIC_URL: `http://localhost:${ports.gateway}`,
    DEFAULT_PROVIDER: 'self-hosted',
    MAIL_HOST: 'mail.rollcall.test',
    SHUTDOWN_GRACE_MS: String((GRACE_SECONDS - 2) * 1000),
    ...settings,
  }
}

/** How a service is run as a process of its own. */
export type ServiceProcess = {
  environment: NodeJS.ProcessEnv
  /** Port of its health. */
  internalPort: number
  logFile: string
}

/** Starts a service as a process of its own; `serviceReady` tells when it can be used. */
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
    args: ['--max-semi-space-size=32', join(ROOT, 'services', service, 'src', 'main.ts')],
    cwd: ROOT,
    env: { ...environment, INTERNAL_PORT: String(internalPort), NODE_NO_WARNINGS: '1' },
  }
}

/** Waits until a launched service says that it is ready; `host` is where it listens. */
export function serviceReady(running: Running, internalPort: number, host = LOCALHOST): Promise<void> {
  return untilReady(running, READY_SECONDS, async () => {
    const answer = await fetch(`http://${host}:${internalPort}/health/ready`, {
      signal: AbortSignal.timeout(5000),
    })
    if (!answer.ok) throw new Error(await answer.text())
  })
}
