import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  freePort,
  launchService,
  type Running,
  SERVICES,
  type ServiceName,
  type Stack,
  serviceEnvironment,
  serviceReady,
} from '@rollcall/local'
import { startTestDns } from '@rollcall/testing/dns'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { describeStack, dropStorage } from '../stack.ts'

const ZONE = 'rollcall.test'

/** A process of a service with its own address. */
export type Replica = {
  service: ServiceName
  host: string
  port: number
  /** Id of a process, whose session contains its programs. */
  pid: number
  /** Stops gracefully, like a pod in Kubernetes: its address is removed when it gets SIGTERM. */
  retire(): Promise<void>
  /** kill -9. */
  kill(): Promise<void>
}

/** Replicas of every service behind DNS names, as in a cluster. */
export type Fleet = {
  /** Replicas that are ready. */
  replicas(service: ServiceName): readonly Replica[]
  /** Starts another replica; resolves when it is ready and its name resolves to it. */
  add(service: ServiceName): Promise<Replica>
  /** Returns the lines that all replicas have logged about a request. */
  logged(requestId: string): Promise<string[]>
  stop(): Promise<void>
}

/**
 * Starts a fleet: a number of processes of each service (default 1), behind DNS names, each with its own loopback
 * address. `settings` are those of all services, by the names of their variables.
 */
export async function startFleet(
  counts: Partial<Record<ServiceName, number>>,
  settings: Record<string, string> = {},
): Promise<Fleet> {
  await using onFailure = new AsyncDisposableStack()
  const logDir = await mkdtemp(join(tmpdir(), 'rollcall-fleet-'))
  onFailure.defer(() => rm(logDir, { recursive: true, force: true }))
  const dns = await startTestDns()
  onFailure.defer(() => dns.stop())
  dns.zone(ZONE, ['127.0.0.2'])

  const stack = await describeStack({
    RPC_DEADLINE_MS: String(scaledTimeout(10_000)),
    SHUTDOWN_DRAIN_MS: String(scaledTimeout(1000)),
    RPC_MAX_CONNECTION_AGE_MS: '4000',
    TRUST_PROXY: '1',
    LOG_LEVEL: 'error',
    GRPC_NODE_USE_ALTERNATIVE_RESOLVER: 'true',
    ...settings,
  })
  onFailure.defer(() => dropStorage(stack))
  for (const service of SERVICES) {
    const server = `${dns.resolver.address}:${dns.resolver.port}`
    stack.settings[`${service.toUpperCase()}_ADDRESS`] = `dns://${server}/${service}.${ZONE}:${stack.ports[service]}`
  }

  const ready: Replica[] = []
  const running: Running[] = []
  onFailure.defer(async () => void (await Promise.all(running.map(process => process.stop()))))
  const publish = () => {
    const records = ready.map(({ service, host }) => ({ name: `${service}.${ZONE}`, type: 'A', data: host, ttl: 1 }))
    dns.publish(ZONE, records)
  }
  let hosts = 20
  const add = async (service: ServiceName): Promise<Replica> => {
    const process = await launch(service, stack, `127.0.0.${hosts++}`, logDir)
    running.push(process.running)
    const leave = () => {
      if (ready.includes(replica)) ready.splice(ready.indexOf(replica), 1)
      publish()
    }
    const replica: Replica = {
      service,
      host: process.host,
      port: stack.ports[service],
      pid: process.running.pid,
      async retire() {
        leave()
        await process.running.stop()
      },
      async kill() {
        process.running.kill()
        await process.running.exited
        leave()
      },
    }
    ready.push(replica)
    publish()
    return replica
  }
  const addAll = async (service: ServiceName) => {
    for (let count = 0; count < (counts[service] ?? 1); count++) await add(service)
  }
  await Promise.all(SERVICES.map(addAll))

  const all = onFailure.move()
  return {
    replicas: service => ready.filter(replica => replica.service === service),
    add,
    async logged(requestId) {
      const files = await readdir(logDir)
      const texts = await Promise.all(files.map(file => readFile(join(logDir, file), 'utf8')))
      return texts.flatMap(text => text.split('\n')).filter(line => line.includes(requestId))
    },
    stop: () => all.disposeAsync(),
  }
}

async function launch(service: ServiceName, stack: Stack, host: string, logDir: string) {
  const internalPort = await freePort()
  const environment = { ...serviceEnvironment(service, stack), LISTEN_HOST: host }
  const logFile = join(logDir, `${service}-${host}.log`)
  const running = await launchService(service, { environment, internalPort, logFile })
  await serviceReady(running, internalPort, host)
  return { host, running }
}
