import { relative } from 'node:path'
import { performance } from 'node:perf_hooks'
import { ConfigError } from '@rollcall/runtime'
import { type RunningBacking, startBacking } from './backing/index.ts'
import { follow } from './follow.ts'
import { interruption } from './interruption.ts'
import { type Kept, keptIn } from './keys.ts'
import { assertFree, freePort, freePorts, LOCALHOST } from './ports.ts'
import { explain, Problem } from './problem.ts'
import { launchService, SERVICES, type Service, type Stack, serviceEnvironment, serviceReady } from './services.ts'
import { ROOT, readSettings, type Settings } from './settings.ts'
import { firstToEnd, type Running } from './supervise.ts'

/** `npm start`: the whole product on this machine, until it is told to stop. */

const LAST_LINES = 15

async function main(signal: AbortSignal): Promise<void> {
  const settings = readSettings()
  const gatewayPort = settings.PORT || (await freePort())
  await assertFree(gatewayPort, 'PORT')

  await using running = new AsyncDisposableStack() // let go of in reverse: the gateway first, the backing services last
  const backing = await startBacking({ cacheDir: settings.CACHE_DIR, dataDir: settings.DATA_DIR, log: print, signal })
  running.defer(() => backing.stop())
  const kept = keptIn(settings.DATA_DIR, { email: settings.BOOTSTRAP_EMAIL, password: settings.BOOTSTRAP_PASSWORD })
  const stack = await stackOf(settings, kept, backing, gatewayPort)

  const services: Launched[] = []
  for (const service of SERVICES) {
    const launched = await launch(service, stack, settings)
    running.defer(() => launched.program.stop())
    services.push(launched)
  }
  const over = Promise.race([interrupted(signal), backing.failed, crash(services)])
  over.catch(() => {}) // it is awaited below, twice
  const ready = Promise.all(services.map(service => service.ready())).then(() => 'ready')
  if ((await Promise.race([ready, over])) === 'ready') {
    printReady(settings, kept, gatewayPort)
    await over
  }
  print('stopping')
}

async function stackOf(settings: Settings, kept: Kept, backing: RunningBacking, gatewayPort: number): Promise<Stack> {
  const names = SERVICES.map(({ name }) => name)
  const free = await freePorts(names.length)
  const ports = { ...Object.fromEntries(names.map((name, index) => [name, free[index]])), gateway: gatewayPort }
  return { backing: backing.env, keys: kept.keys, ports, databasePrefix: 'rollcall_', settings: told(settings, kept) }
}

/** What the services read of the settings; without a password there is nothing to bootstrap, the account is there. */
function told({ LOG_LEVEL, REGISTRATION, TRUST_PROXY, ...settings }: Settings, { owner }: Kept): Stack['settings'] {
  const password = settings.BOOTSTRAP_PASSWORD ?? owner.password
  const bootstrap = password ? { BOOTSTRAP_EMAIL: settings.BOOTSTRAP_EMAIL, BOOTSTRAP_PASSWORD: password } : {}
  return { LOG_LEVEL, REGISTRATION, TRUST_PROXY, ...bootstrap }
}

type Launched = { program: Running; ready(): Promise<void> }

async function launch(service: Service, stack: Stack, settings: Settings): Promise<Launched> {
  const begin = performance.now()
  const internalPort = await freePort()
  const environment = serviceEnvironment(service, stack, internalPort)
  const program = await launchService(service, environment, {
    cacheDir: settings.CACHE_DIR,
    dataDir: settings.DATA_DIR,
  })
  if (/^(debug|trace)$/.test(settings.LOG_LEVEL)) follow(program.logFile ?? '', line => printStep(service.name, line))
  return {
    program,
    async ready() {
      await serviceReady(program, internalPort)
      const seconds = ((performance.now() - begin) / 1000).toFixed(1)
      printStep(service.name, `ready on ${LOCALHOST}:${stack.ports[service.name]} (${seconds} s)`)
    },
  }
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
}

async function crash(services: readonly Launched[]): Promise<never> {
  const { name, exit, logFile, lastLines } = await firstToEnd(services.map(({ program }) => program))
  throw new Problem(`${lastLines(LAST_LINES)}\n${name} ended by itself (exit ${exit?.code}), see ${logFile}`)
}

function printReady({ DATA_DIR }: Settings, { owner }: Kept, port: number): void {
  const url = `http://localhost:${port}`
  const data = relative(ROOT, DATA_DIR)
  print('ready')
  printStep('gateway', `${url}/api`)
  printStep('docs', `${url}/docs`)
  printStep('sign in', `${owner.email} with ${owner.password ?? 'the BOOTSTRAP_PASSWORD of the first start'}`)
  printStep('', `POST ${url}/api/auth/login {"email":"…","password":"…"}`)
  printStep(
    'data',
    `${data.startsWith('..') ? DATA_DIR : data}, logs in ${data.startsWith('..') ? DATA_DIR : data}/logs`,
  )
  print('Ctrl-C stops it')
}

const printStep = (name: string, text: string) => print(`${name.padEnd(8)} ${text}`)
const print = (line: string) => console.log(line)

const signal = interruption()
try {
  await main(signal)
} catch (error) {
  if (!signal.aborted) {
    console.error(error instanceof ConfigError ? error.message : explain(error))
    process.exitCode = 1
  }
}
process.exit()
