import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { type Cache, cannotWrite, expectRoom } from '../install.ts'
import { tryLock } from '../lock.ts'
import { assertFree, connectTo, freePorts, LOCALHOST } from '../ports.ts'
import { Problem } from '../problem.ts'
import { ended, firstToEnd, type Running, supervise, untilReady } from '../supervise.ts'
import type { Backing, BackingEnvironment, BackingVariable, Server } from './backing.ts'
import { kafka } from './kafka.ts'
import { mongodb } from './mongodb.ts'
import { redis } from './redis.ts'

const BACKINGS = [mongodb, kafka, redis] as const satisfies readonly Backing[]
const GRACE_SECONDS = 10
const READY_SECONDS = 60
const START_ATTEMPTS = 3
const DATA_MEGABYTES = 300

/** Options of `startBacking`. */
export type BackingOptions = {
  /** Folder of installed programs; concurrent runs can share it. */
  cacheDir: string
  /** Folder of data and logs, one folder per server; kept between starts. One run at a time can use it. */
  dataDir: string
  /** Client ports by server name. Default: a free port. */
  ports?: Record<string, number>
  /** Advertised client ports by server name, for a server behind a proxy. Default: its own port. */
  advertised?: Record<string, number>
  /** Names of the servers to start. Default: all. */
  only?: readonly string[]
  /** Whether acknowledged writes survive a kill -9 of the database. Slower. */
  durable?: boolean
  /** The environment that can contain addresses of running servers. */
  env?: NodeJS.ProcessEnv
  /** Prints a line per step. */
  log: (line: string) => void
  /** Cancels the start. */
  signal?: AbortSignal
}

/** Running backing services. */
export type RunningBacking = {
  /** Their addresses. */
  env: BackingEnvironment
  /** A line per server: "mongodb  SecantusDB 0.6.0b17 on 127.0.0.1:41234". */
  describe: readonly string[]
  /** Rejects when one of them exits unexpectedly. */
  failed: Promise<never>
  /** Stops the servers started here and keeps their data. */
  stop(): Promise<void>
}

/**
 * Starts the backing services concurrently and resolves when all are ready. A server with an address in the environment
 * is only checked; the others are started on this machine, and installed first if they are missing. Throws a Problem
 * with the cause and what to do; then nothing is left running.
 */
export async function startBacking(options: BackingOptions): Promise<RunningBacking> {
  const dataDir = resolve(options.dataDir)
  using onFailure = new DisposableStack()
  onFailure.use(await lockDataDir(dataDir))
  const startAbort = new AbortController() // cancels only the start; `stop` stops running servers
  const context = {
    ...options,
    dataDir,
    cacheDir: resolve(options.cacheDir),
    env: options.env ?? process.env,
    signal: startAbort.signal,
  }

  const wanted = BACKINGS.filter(({ name }) => options.only?.includes(name) ?? true)
  const served = await allOrNothing(
    wanted.map(backing => provide(backing, context)),
    startAbort,
    options.signal,
  )
  const programs = served.flatMap(({ running }) => running ?? [])
  const lock = onFailure.move()
  let stopping = false
  const failed = firstToEnd(programs).then(async program => {
    if (stopping) await new Promise(() => {})
    throw ended(program)
  })
  failed.catch(() => {}) // an unhandled rejection must not end the caller
  return {
    env: Object.assign({}, ...served.map(({ env }) => env)),
    describe: served.flatMap(({ describe }) => describe),
    failed,
    async stop() {
      stopping = true
      await Promise.all(programs.map(program => program.stop()))
      lock.dispose()
    },
  }
}

/** Waits for all starts. If one fails, cancels the others and waits until their programs have exited. */
async function allOrNothing(
  starts: Promise<Served>[],
  startAbort: AbortController,
  signal?: AbortSignal,
): Promise<Served[]> {
  const abortStart = () => startAbort.abort(signal?.reason)
  if (signal?.aborted) abortStart()
  signal?.addEventListener('abort', abortStart)
  for (const start of starts) start.catch(error => startAbort.abort(error))
  const results = await Promise.allSettled(starts)
  signal?.removeEventListener('abort', abortStart)
  const served = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  if (!startAbort.signal.aborted) return served
  await Promise.all(served.map(({ running }) => running?.exited))
  throw startAbort.signal.reason
}

type Context = BackingOptions & Required<Pick<BackingOptions, 'env' | 'signal'>>

/** A backing service in use; `running` if it was started here. */
type Served = { env: Partial<BackingEnvironment>; describe: string[]; running?: Running }

async function provide(backing: Backing, context: Context): Promise<Served> {
  const line = (text: string) => `${backing.name.padEnd(9)} ${text}`
  const log = (text: string) => context.log(line(text))
  const given = backing.variables.filter(variable => context.env[variable])
  const describe = await Promise.all(given.map(variable => use(backing, variable, context.env[variable] ?? '')))
  describe.forEach(log)
  const env = Object.fromEntries(given.map(variable => [variable, context.env[variable]]))
  if (given.length === backing.variables.length) return { env, describe: describe.map(line) }

  const server = await obtain(backing, { dir: context.cacheDir, log, signal: context.signal })
  const begin = performance.now()
  const { running, port } = await start(backing, server, context)
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  const text = `${server.label} on ${LOCALHOST}:${port}`
  log(`${text} (${seconds} s)`)
  const own = Object.fromEntries(backing.variables.map((variable, index) => [variable, server.addresses(port)[index]]))
  return { env: { ...own, ...env }, describe: [...describe, text].map(line), running }
}

async function use(backing: Backing, variable: BackingVariable, address: string): Promise<string> {
  const shown = address.replace(/\/\/[^@/]*@/, '//') // without user and password
  try {
    return `${await backing.check(address)} at ${shown} (${variable})`
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new Problem(`${variable} (${shown}): ${reason}; start that server, or unset ${variable} to start one here`)
  }
}

async function obtain(backing: Backing, cache: Cache): Promise<Server> {
  try {
    return await backing.obtain(cache)
  } catch (error) {
    throw error instanceof Problem ? new Problem(`${backing.name}: ${error.message}`) : error
  }
}

/** Starts the server and waits until it is ready. Retries with another port if the port was taken meanwhile. */
async function start(backing: Backing, server: Server, context: Context): Promise<{ running: Running; port: number }> {
  const { ports, advertised, durable = false, signal } = context
  const configured = ports?.[backing.name]
  if (configured !== undefined) await assertFree(configured, `the port of ${backing.name}`)
  const dataDir = join(context.dataDir, backing.name)
  const logFile = join(context.dataDir, 'logs', `${backing.name}.log`)
  await mkdir(dataDir, { recursive: true })
  for (let attempt = 1; ; attempt++) {
    const [port = 0, ...others] = await freePorts(server.portCount)
    const clientPort = configured ?? port
    const advertisedPort = advertised?.[backing.name] ?? clientPort
    const program = await server.prepare({ ports: [clientPort, ...others], advertisedPort, dataDir, durable })
    const running = await supervise(program, { name: backing.name, logFile, graceSeconds: GRACE_SECONDS, signal })
    try {
      await untilReady(running, READY_SECONDS, () => checkReady(backing, server, clientPort))
      return { running, port: clientPort }
    } catch (error) {
      await running.stop()
      signal.throwIfAborted()
      const isPortTaken = /address already in use|Address in use|EADDRINUSE/i.test(running.lastLines(50))
      if (!isPortTaken || configured !== undefined || attempt === START_ATTEMPTS) throw error
    }
  }
}

async function checkReady(backing: Backing, server: Server, port: number): Promise<void> {
  const socket = await connectTo(LOCALHOST, port, 2000) // cheaper than a client while the port is closed
  socket.destroy()
  await server.initialize?.(port)
  for (const address of server.addresses(port)) await backing.check(address)
}

async function lockDataDir(dataDir: string): Promise<Disposable> {
  try {
    await mkdir(dataDir, { recursive: true })
    await expectRoom(dataDir, DATA_MEGABYTES, 'DATA_DIR')
    const held = tryLock(join(dataDir, 'lock'))
    if (!held)
      throw new Problem(`${dataDir} is in use by another run: stop that one, or set DATA_DIR to another folder`)
    return held
  } catch (error) {
    throw cannotWrite(error, dataDir, 'DATA_DIR') ?? error
  }
}
