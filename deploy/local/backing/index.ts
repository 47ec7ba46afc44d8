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

/** What a run wants of its backing services. */
export type BackingOptions = {
  /** Installed programs; may be shared by any number of runs. */
  cacheDir: string
  /** Data, logs, one folder for each server; kept between starts, one run at a time. */
  dataDir: string
  /** The client port of a server by its name; a free one where none is given. */
  ports?: Record<string, number>
  /** The port by which clients come to a server, by its name, where something stands between; its own where none is given. */
  advertised?: Record<string, number>
  /** Only these, by name. */
  only?: readonly string[]
  /** Makes acknowledged writes survive a kill -9 of the database; slower. */
  durable?: boolean
  /** Where a server's address is looked for before one is started. */
  env?: NodeJS.ProcessEnv
  /** Takes one line for each step. */
  log: (line: string) => void
  /** Calls the start off. */
  signal?: AbortSignal
}

/** Backing services that answer. */
export type RunningBacking = {
  /** The settings that point to them. */
  env: BackingEnvironment
  /** What serves each of them, "mongodb  SecantusDB 0.6.0b17 on 127.0.0.1:41234". */
  describe: readonly string[]
  /** Rejects when one of them ends by itself. */
  failed: Promise<never>
  /** Stops those that were started here; their data stays. */
  stop(): Promise<void>
}

/**
 * Gives a run its backing services: those named by a URL in the environment are checked and used, the others are
 * started on this machine, installed first where they are missing. All at once; resolves when every one answers.
 * Throws a Problem that names the cause and the way out, with nothing left running.
 */
export async function startBacking(options: BackingOptions): Promise<RunningBacking> {
  const dataDir = resolve(options.dataDir)
  using onFailure = new DisposableStack()
  onFailure.use(await lockDataDir(dataDir))
  const calledOff = new AbortController() // of the start alone: what runs is stopped by stop()
  const context = {
    ...options,
    dataDir,
    cacheDir: resolve(options.cacheDir),
    env: options.env ?? process.env,
    signal: calledOff.signal,
  }

  const wanted = BACKINGS.filter(({ name }) => options.only?.includes(name) ?? true)
  const served = await allOrNothing(
    wanted.map(backing => provide(backing, context)),
    calledOff,
    options.signal,
  )
  const programs = served.flatMap(({ running }) => running ?? [])
  const lock = onFailure.move()
  let stopping = false
  const failed = firstToEnd(programs).then(async program => {
    if (stopping) await new Promise(() => {})
    throw ended(program)
  })
  failed.catch(() => {}) // whoever does not wait for it is not to be ended by it
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

/** Waits for all of them; when one fails the others are called off, and their programs gone before it throws. */
async function allOrNothing(
  starts: Promise<Served>[],
  calledOff: AbortController,
  signal?: AbortSignal,
): Promise<Served[]> {
  const callOff = () => calledOff.abort(signal?.reason)
  if (signal?.aborted) callOff()
  signal?.addEventListener('abort', callOff)
  for (const start of starts) start.catch(error => calledOff.abort(error))
  const results = await Promise.allSettled(starts)
  signal?.removeEventListener('abort', callOff)
  const served = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  if (!calledOff.signal.aborted) return served
  await Promise.all(served.map(({ running }) => running?.exited))
  throw calledOff.signal.reason
}

type Context = BackingOptions & Required<Pick<BackingOptions, 'env' | 'signal'>>

/** One backing service in use: ours, or somebody else's. */
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
    throw new Problem(
      `${variable} (${shown}): ${reason}; start that server, or unset ${variable} to have one started here`,
    )
  }
}

async function obtain(backing: Backing, cache: Cache): Promise<Server> {
  try {
    return await backing.obtain(cache)
  } catch (error) {
    throw error instanceof Problem ? new Problem(`${backing.name}: ${error.message}`) : error
  }
}

/** Starts the server and waits until it answers; a port somebody else was quicker to take costs another attempt. */
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
      await untilReady(running, READY_SECONDS, () => fit(backing, server, clientPort))
      return { running, port: clientPort }
    } catch (error) {
      await running.stop()
      signal.throwIfAborted()
      const portLost = /address already in use|Address in use|EADDRINUSE/i.test(running.lastLines(50))
      if (!portLost || configured !== undefined || attempt === START_ATTEMPTS) throw error
    }
  }
}

async function fit(backing: Backing, server: Server, port: number): Promise<void> {
  const socket = await connectTo(LOCALHOST, port, 2000) // cheaper than a client, while nobody listens yet
  socket.destroy()
  await server.settle?.(port)
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
