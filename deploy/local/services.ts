import { join } from 'node:path'
import type { BackingEnvironment } from './backing/backing.ts'
import type { Keys } from './keys.ts'
import { LOCALHOST } from './ports.ts'
import { ROOT } from './settings.ts'
import { type Running, supervise, untilReady } from './supervise.ts'

const GRACE_SECONDS = 12
const READY_SECONDS = 60

/** A service of the stack. `settings` names what it is told beyond what all services are told. */
export type Service = { name: string; settings?: readonly string[] }

/** The services in the order in which they need each other: started so, stopped the other way round. */
export const SERVICES: readonly Service[] = [
  { name: 'identity', settings: ['REGISTRATION', 'BOOTSTRAP_EMAIL', 'BOOTSTRAP_PASSWORD'] },
  { name: 'audience' },
  { name: 'import' },
  { name: 'gateway', settings: ['TRUST_PROXY'] },
]

/** What the services of one stack share. */
export type Stack = {
  backing: BackingEnvironment
  keys: Keys
  /** Where the services listen, by name; those that are known. */
  ports: Readonly<Record<string, number>>
  /** Keeps the databases of several stacks on one server apart; "rollcall_" makes "rollcall_identity". */
  databasePrefix: string
  /** Settings of single services, and any other that all of them may see. */
  settings: NodeJS.ProcessEnv
}

/** The environment a service of this stack runs in. A port of 0 lets the service choose one. */
export function serviceEnvironment(service: Service, stack: Stack, internalPort = 0): NodeJS.ProcessEnv {
  const addresses = Object.entries(stack.ports).map(([name, port]) => [addressVariable(name), `${LOCALHOST}:${port}`])
  const settings = (service.settings ?? []).map(name => [name, stack.settings[name]])
  return {
    ...stack.backing,
    ...stack.keys,
    ...Object.fromEntries([...addresses, ...settings]),
    LOG_LEVEL: stack.settings.LOG_LEVEL,
    MONGODB_DATABASE: stack.databasePrefix + service.name,
    PORT: String(stack.ports[service.name] ?? 0),
    INTERNAL_PORT: String(internalPort),
    SHUTDOWN_GRACE_MS: String((GRACE_SECONDS - 2) * 1000),
  }
}

const addressVariable = (service: string) => `${service.toUpperCase()}_ADDRESS`

/** Starts a service as a process of its own; `serviceReady` tells when it can be used. */
export function launchService(
  { name }: Service,
  environment: NodeJS.ProcessEnv,
  folders: { cacheDir: string; dataDir: string },
): Promise<Running> {
  const program = {
    command: process.execPath,
    args: ['--max-semi-space-size=32', join(ROOT, 'services', name, 'src', 'main.ts')],
    cwd: ROOT,
    env: { ...environment, NODE_COMPILE_CACHE: join(folders.cacheDir, 'compile'), NODE_NO_WARNINGS: '1' },
  }
  return supervise(program, {
    name,
    logFile: join(folders.dataDir, 'logs', `${name}.log`),
    graceSeconds: GRACE_SECONDS,
  })
}

/** Waits until a launched service says that it is ready. */
export function serviceReady(running: Running, internalPort: number): Promise<void> {
  return untilReady(running, READY_SECONDS, async () => {
    const answer = await fetch(`http://${LOCALHOST}:${internalPort}/health/ready`, {
      signal: AbortSignal.timeout(5000),
    })
    if (!answer.ok) throw new Error(await answer.text())
  })
}
