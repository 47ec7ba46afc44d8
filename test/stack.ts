import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import '@rollcall/bus' // corrects the timers of kafkajs, by which deleteTopics connects
import {
  type BackingEnvironment,
  freePort,
  LOCALHOST,
  launchService,
  newKeys,
  SERVICES,
  type ServiceName,
  type Stack,
  serviceEnvironment,
  servicePorts,
  serviceReady,
} from '@rollcall/local'
import { keySettings, readTrust, type Trust } from '@rollcall/rpc/service-keys'
import { createLifecycle, createLogger, type Lifecycle, type Metrics } from '@rollcall/runtime'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { type Link, linkTo } from '@rollcall/testing/link'
import { PASSWORD_COST } from '@rollcall/testing/password-cost'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { deleteTopics } from '@rollcall/testing/topics'
import { MongoClient } from 'mongodb'
import { type Api, createApi, signIn } from './api.ts'

const READY_MS = 30_000
/** Deadline of a request on a quiet machine, the default of the services. */
const RPC_DEADLINE_MS = 10_000

type Start = (
  config: object,
  lifecycle: Lifecycle,
  options: { now?: (() => number) | undefined },
) => Promise<{ port: number }>

/** Starts services inside this process; loaded on demand. */
async function loadService(name: ServiceName): Promise<{ config(env: NodeJS.ProcessEnv): object; start: Start }> {
  const { service } = await import(`../services/${name}/src/service.ts`)
  return service
}

/** Settings of services that have no variable. */
const OVERRIDES: Partial<Record<ServiceName, object>> = { identity: { passwordCost: PASSWORD_COST } }

/** The owner of the first organization of each test stack. */
export const OWNER = { email: 'owner@rollcall.test', password: 'made for tests only' }

/** Options of a stack. */
export type StackOptions = {
  /** Number of gateways. Default: one. */
  gateways?: number
  /** Services that run as processes of their own, so that they can be killed; `true` for all. */
  processes?: boolean | readonly ServiceName[]
  /** Settings of the services, by the names of their variables. */
  settings?: Record<string, string>
  /** Settings of single services. */
  settingsOf?: Partial<Record<ServiceName, Record<string, string>>>
  /**
   * Clock of services that measure waiting times, in milliseconds since the epoch; not for processes.
   */
  now?: () => number
  /** Whether services inside this process log to files, as processes do. Otherwise they log to the output. */
  logFiles?: boolean
  /** Services that the others reach through a link that can fail. */
  linked?: readonly ServiceName[]
}

/** One running instance of a service; after `stop` or `kill`, `start` brings it back on the same port. */
export type Instance = {
  service: ServiceName
  port: number
  /** Its settings. */
  environment: NodeJS.ProcessEnv
  start(): Promise<void>
  /** Stops it gracefully. */
  stop(): Promise<void>
  /** `kill -9`; only for processes. */
  kill(): Promise<void>
  /** Its metrics, once started; only for instances inside this process. */
  metrics(): Metrics
  /** Id of a process, whose session contains its programs. */
  pid(): number
}

/** The whole product with its own databases and keys. */
export type TestStack = {
  /** Client of the first gateway without a credential. */
  api: Api
  /** Client with a session of the first organization's owner. */
  owner: Api
  /** The gateways. */
  urls: readonly string[]
  /** Instances of a service; the gateway may have several. */
  instances(service: ServiceName): readonly Instance[]
  /** Links to the services that are reached through one. */
  links: Readonly<Partial<Record<ServiceName, Link>>>
  backing: BackingEnvironment
  /** Prefix of the stack's databases, topics and keys. */
  namespace: string
  /** Folder of the logs, and of mails without a server. */
  logDir: string
  /** Signing key of a service, with which a test can call as that service. */
  trust(service: ServiceName): Trust
  stop(): Promise<void>
}

/** Starts the product on the backing services of the test run. */
export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  await using onFailure = new AsyncDisposableStack()
  const logDir = await mkdtemp(join(tmpdir(), 'rollcall-stack-'))
  onFailure.defer(() => rm(logDir, { recursive: true, force: true }))
  const stack = await describeStack({ MAIL_DIR: join(logDir, 'mails'), ...options.settings })
  onFailure.defer(() => dropStorage(stack))

  const links: Partial<Record<ServiceName, Link>> = {}
  for (const service of options.linked ?? []) {
    const link = await linkTo(`${LOCALHOST}:${stack.ports[service]}`)
    onFailure.defer(() => link.stop())
    links[service] = link
    stack.settings[`${service.toUpperCase()}_ADDRESS`] = link.url
  }
  const gatewayPorts = await Promise.all(Array.from({ length: (options.gateways ?? 1) - 1 }, () => freePort()))
  const places = [
    ...SERVICES.map(service => ({ service, port: stack.ports[service] })),
    ...gatewayPorts.map(port => ({ service: 'gateway' as const, port })),
  ]
  const instances = places.map(({ service, port }) => {
    const environment = {
      ...serviceEnvironment(service, { ...stack, ports: { ...stack.ports, [service]: port } }),
      ...options.settingsOf?.[service],
    }
    const logFile = join(logDir, `${service}-${port}.log`)
    return isProcess(service, options)
      ? processInstance(service, port, environment, logFile)
      : ownInstance(service, port, environment, { now: options.now, ...(options.logFiles && { logFile }) })
  })
  onFailure.defer(async () => void (await Promise.all(instances.map(instance => instance.stop()))))
  await Promise.all(instances.map(instance => instance.start()))

  const of = (service: ServiceName) => instances.filter(instance => instance.service === service)
  const urls = of('gateway').map(({ port }) => `http://${LOCALHOST}:${port}`)
  const api = createApi(urls[0] ?? '')
  const owner = await signIn(api, OWNER.email, OWNER.password)
  const all = onFailure.move()
  return {
    api,
    owner,
    urls,
    instances: of,
    links,
    backing: stack.backing,
    namespace: stack.namespace,
    logDir,
    trust: service => readTrust(keySettings(stack.keys.ASSERTION_KEYS)[service]),
    stop: () => all.disposeAsync(),
  }
}

/** Returns the shared settings of a stack's services, on the backing services of the test run. */
export async function describeStack(settings: Record<string, string> = {}): Promise<Stack> {
  return {
    backing: backingOf(process.env),
    keys: newKeys(),
    ports: await servicePorts(),
    namespace: `t${randomBytes(4).toString('hex')}_`,
    settings: {
      LOG_LEVEL: 'fatal',
      DNS_CHECK_SECONDS: '0', // tests verify a domain repeatedly
      KAFKA_PARTITIONS: '2', // many topics on one small broker
      RPC_DEADLINE_MS: String(scaledTimeout(RPC_DEADLINE_MS)),
      BOOTSTRAP_EMAIL: OWNER.email,
      BOOTSTRAP_PASSWORD: OWNER.password,
      ...settings,
    },
  }
}

function isProcess(service: ServiceName, { processes = false }: StackOptions): boolean {
  return typeof processes === 'boolean' ? processes : processes.includes(service)
}

function backingOf(env: NodeJS.ProcessEnv): BackingEnvironment {
  const { MONGODB_URL = '', KAFKA_BROKERS = '', REDIS_CACHE_URL = '', REDIS_QUEUE_URL = '' } = env
  const backing = { MONGODB_URL, KAFKA_BROKERS, REDIS_CACHE_URL, REDIS_QUEUE_URL }
  for (const [name, value] of Object.entries(backing))
    assert.ok(value, `${name} is not set: run the test with npm test`)
  return backing
}

/** A service inside this process. */
function ownInstance(
  service: ServiceName,
  port: number,
  environment: NodeJS.ProcessEnv,
  { now, logFile }: { now: (() => number) | undefined; logFile?: string },
): Instance {
  const destination = logFile && { write: (line: string) => appendFileSync(logFile, line) }
  let stop = async () => {}
  let measured: Metrics | undefined
  return {
    service,
    port,
    environment,
    async start() {
      const logger = createLogger({
        service,
        level: environment.LOG_LEVEL ?? 'fatal',
        ...(destination && { destination }),
      })
      const lifecycle = createLifecycle({ service, logger, graceMs: scaledTimeout(10_000) })
      measured = lifecycle.metrics
      const starting = loadService(service).then(({ config, start }) =>
        start({ ...config(environment), ...OVERRIDES[service] }, lifecycle, { now }),
      )
      stop = async () => {
        stop = async () => {}
        await starting.catch(() => undefined) // a start that goes on would leave open what it opens
        assert.equal(await lifecycle.stop('the test is over'), 'clean', `${service} did not stop cleanly`)
      }
      await starting
      lifecycle.health.serving()
      await untilReady(service, lifecycle)
    },
    stop: () => stop(),
    kill: async () => assert.fail('only processes can be killed: the option `processes` of startStack'),
    metrics: () => measured ?? assert.fail(`${service} has not been started`),
    pid: () => process.pid,
  }
}

async function untilReady(service: ServiceName, { health, shutdown }: Lifecycle): Promise<void> {
  const deadline = Date.now() + scaledTimeout(READY_MS)
  for (let readiness = await health.ready(); !readiness.ok; readiness = await health.ready()) {
    assert.ok(!shutdown.aborted, `${service} was stopped before it was ready`)
    assert.ok(Date.now() < deadline, `${service} is not ready: ${JSON.stringify(readiness.checks)}`)
    await sleep(20)
  }
}

/** A service as a process. */
function processInstance(
  service: ServiceName,
  port: number,
  environment: NodeJS.ProcessEnv,
  logFile: string,
): Instance {
  let running: Awaited<ReturnType<typeof launchService>> | undefined
  return {
    service,
    port,
    environment,
    async start() {
      const internalPort = await freePort()
      running = await launchService(service, { environment, internalPort, logFile })
      await serviceReady(running, internalPort)
    },
    stop: async () => running?.stop(),
    async kill() {
      running?.kill()
      await running?.exited
    },
    metrics: () => assert.fail('the metrics of a process are at its internal port'),
    pid: () => running?.pid ?? assert.fail(`${service} has not been started`),
  }
}

/** Deletes a stack's databases and topics. */
export async function dropStorage({ backing, namespace }: Stack): Promise<void> {
  await using client = new MongoClient(backing.MONGODB_URL)
  for (const service of SERVICES) await dropDatabase(client.db(`${namespace}rollcall_${service}`))
  await deleteTopics(backing.KAFKA_BROKERS, namespace)
}
