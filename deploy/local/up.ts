import { join, relative } from 'node:path'
import { performance } from 'node:perf_hooks'
import { ConfigError } from '@rollcall/runtime'
import { startBacking } from './backing/index.ts'
import { builtConsole } from './console.ts'
import { follow } from './follow.ts'
import { interruption } from './interruption.ts'
import { type Kept, keptIn } from './keys.ts'
import { followMails, type KeptMail } from './mails.ts'
import { LOCAL_ZONE, startNameServer } from './name-server.ts'
import { assertFree, freePort, LOCALHOST } from './ports.ts'
import { explain, Problem } from './problem.ts'
import { SERVICES, type ServiceName } from './service-names.ts'
import { launchService, type Stack, serviceEnvironment, servicePorts, serviceReady } from './services.ts'
import { ROOT, readSettings, registrationWarning, type Settings } from './settings.ts'
import { firstToEnd, type Running } from './supervise.ts'

/** `npm start`: runs the whole product on this machine until it is stopped. */

const LAST_LINES = 15

async function main(signal: AbortSignal): Promise<void> {
  const settings = readSettings()
  const gatewayPort = settings.PORT || (await freePort())
  await assertFree(gatewayPort, 'PORT')

  await using running = new AsyncDisposableStack() // stopped in reverse: the gateway first, the backing services last
  const building = settings.CONSOLE === 'on' ? builtConsole({ dir: settings.CACHE_DIR, log: print, signal }) : ''
  Promise.resolve(building).catch(() => {}) // awaited below, beside the backing services
  const backing = await startBacking({ cacheDir: settings.CACHE_DIR, dataDir: settings.DATA_DIR, log: print, signal })
  running.defer(() => backing.stop())
  const kept = keptIn(settings.DATA_DIR, { email: settings.BOOTSTRAP_EMAIL, password: settings.BOOTSTRAP_PASSWORD })
  const names = await startNameServer(settings.DATA_DIR)
  running.defer(() => names.stop())
  const ports = { ...(await servicePorts()), gateway: gatewayPort }
  const bouncePort = settings.BOUNCE_SMTP_PORT || (await freePort())
  if (settings.BOUNCE_SMTP_PORT) await assertFree(bouncePort, 'BOUNCE_SMTP_PORT')
  const stack = {
    backing: backing.env,
    keys: kept.keys,
    ports,
    namespace: '',
    settings: {
      ...serviceSettings(settings, kept),
      CONSOLE_DIR: await building,
      BOUNCE_SMTP_PORT: String(bouncePort),
      DNS_ZONES: [settings.DNS_ZONES ?? [], names.zone].flat().join(','),
    },
  }

  const services: Launched[] = []
  for (const service of SERVICES) {
    const launched = await launch(service, stack, settings)
    running.defer(() => launched.program.stop())
    services.push(launched)
  }
  const over = Promise.race([interrupted(signal), backing.failed, crash(services)])
  over.catch(() => {}) // awaited below, twice
  const ready = Promise.all(services.map(service => service.ready())).then(() => 'ready')
  if ((await Promise.race([ready, over])) === 'ready') {
    printReady(settings, kept, { gateway: gatewayPort, bounces: bouncePort, zone: names.file })
    if (settings.SMTP_URL === undefined) followMails(mailFolder(settings), printMail)
    await over
  }
  print('stopping')
}

/** Returns the services' settings. Without a known password the account exists, so no bootstrap is needed. */
function serviceSettings(
  { LOG_LEVEL, REGISTRATION, TRUST_PROXY, ...settings }: Settings,
  { owner }: Kept,
): Stack['settings'] {
  const { SMTP_URL, PUBLIC_URL, CONSOLE_URL } = settings
  const DNS_SERVERS = settings.DNS_SERVERS?.join(',')
  const password = settings.BOOTSTRAP_PASSWORD ?? owner.password
  const BOOTSTRAP_EMAIL = password && settings.BOOTSTRAP_EMAIL
  return {
    LOG_LEVEL,
    REGISTRATION,
    TRUST_PROXY,
    DNS_SERVERS,
    BOOTSTRAP_EMAIL,
    BOOTSTRAP_PASSWORD: password,
    ...(SMTP_URL === undefined ? { MAIL_DIR: mailFolder(settings) } : { SMTP_URL }),
    ...(PUBLIC_URL !== undefined && { PUBLIC_URL }),
    ...(CONSOLE_URL !== undefined && { CONSOLE_URL }),
  }
}

const mailFolder = ({ DATA_DIR }: Pick<Settings, 'DATA_DIR'>) => join(DATA_DIR, 'mails')

type Launched = { program: Running; ready(): Promise<void> }

async function launch(service: ServiceName, stack: Stack, settings: Settings): Promise<Launched> {
  const begin = performance.now()
  const internalPort = await freePort()
  const program = await launchService(service, {
    environment: { ...serviceEnvironment(service, stack), NODE_COMPILE_CACHE: join(settings.CACHE_DIR, 'compile') },
    internalPort,
    logFile: join(settings.DATA_DIR, 'logs', `${service}.log`),
  })
  if (/^(debug|trace)$/.test(settings.LOG_LEVEL)) follow(program.logFile ?? '', line => printStep(service, line))
  return {
    program,
    async ready() {
      await serviceReady(program, internalPort)
      const seconds = ((performance.now() - begin) / 1000).toFixed(1)
      printStep(service, `ready on ${LOCALHOST}:${stack.ports[service]} (${seconds} s)`)
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

function printMail({ to, subject, file }: KeptMail): void {
  printStep('mail', `to ${to}: ${subject} (${relative(ROOT, file)})`)
}

function printReady(
  settings: Settings,
  { owner }: Kept,
  places: { gateway: number; bounces: number; zone: string },
): void {
  const { DATA_DIR } = settings
  const url = `http://localhost:${places.gateway}`
  const data = shown(DATA_DIR)
  print('ready')
  printStep('gateway', `${url}/api`)
  if (settings.CONSOLE === 'on') printStep('console', `${url}/console/`)
  printStep('docs', `${url}/docs`)
  printStep('bounces', `smtp://localhost:${places.bounces}`)
  printStep('sign in', `${owner.email} with ${owner.password ?? 'the BOOTSTRAP_PASSWORD of the first start'}`)
  printStep('', `POST ${url}/api/auth/login {"email":"…","password":"…"}`)
  printStep('dns', `${LOCAL_ZONE}, by the records of ${shown(places.zone)}`)
  printStep('data', `${data}, logs in ${data}/logs`)
  const warning = registrationWarning(settings)
  if (warning) printStep('WARNING', warning)
  print('Ctrl-C stops it')
}

/** Returns a path as people type it. */
function shown(path: string): string {
  const within = relative(ROOT, path)
  return within.startsWith('..') ? path : within
}

const printStep = (name: string, text: string) => print(`${name.padEnd(9)} ${text}`)
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
