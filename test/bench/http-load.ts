import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A load run: repeats requests of the paths, one after the other, on `connections` keep-alive connections. Each has an
 * address of its own, and a new one before the limit of that is reached.
 */
export type Load = {
  port: number
  paths: readonly string[]
  /** Default: GET. */
  method?: string
  /** Sent as JSON. `{n}` in its texts becomes the number of the request. */
  body?: object
  headers?: Record<string, string>
  connections: number
  ms: number
  /** Requests from one address. Default: below the limit of all routes. */
  perAddress?: number
  /** First digit of the status of a right answer. Default: 2. */
  statusClass?: 2 | 3
}

/**
 * Result of a load run; `failed` counts every answer with a status of another class. `p50Ms` and `p99Ms` are the times that
 * 50 and 99 of 100 answers took at most. `clientCpuMs` is the CPU time of the loader.
 */
export type LoadResult = { answered: number; failed: number; p50Ms: number; p99Ms: number; clientCpuMs: number }

/** The answers of a run so far, with their times in milliseconds. */
type Tally = { right: string; failed: number; times: number[] }

const longestWaitMs = 10_000
/** Below the limit of an address for its window of three seconds. */
const REQUESTS_PER_ADDRESS = 400

/** Starts a process that generates load, so that only the server works in this one. */
export function startLoader(): { load(load: Load): Promise<LoadResult>; stop(): void } {
  const child = fork(import.meta.filename, { execArgv: [] })
  return {
    async load(load) {
      child.send(load)
      const [result] = (await once(child, 'message')) as [LoadResult]
      return result
    },
    stop: () => void child.kill(),
  }
}

/** Returns 127.0.0.2 and following: every address has its own limit. */
const addressOf = (index: number) => `127.${(index >> 14) & 127}.${(index >> 7) & 127}.${(index & 127) + 2}`

let sent = 0
/** Addresses used by all runs: their limits may not be over yet. */
let addresses = 0

async function run({
  connections,
  ms,
  perAddress = REQUESTS_PER_ADDRESS,
  statusClass = 2,
  ...load
}: Load): Promise<LoadResult> {
  const { port } = load
  const requests = load.paths.map(path => requestOf(load, path))
  let asked = 0
  const next = () => requests[asked++ % requests.length]!(sent++)
  const cpu = process.cpuUsage()
  const tally: Tally = { right: `HTTP/1.1 ${statusClass}`, failed: 0, times: [] }
  const over = AbortSignal.timeout(ms)
  const clients = Array.from({ length: Math.min(connections, 250) }, () =>
    keepAsking(() => askFrom({ port, from: addressOf(addresses++), count: perAddress }, next, tally, over), over),
  )
  await Promise.race([Promise.all(clients), delay(ms + longestWaitMs, undefined, { ref: false })])
  const times = tally.times.sort((one, other) => one - other)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  const { user, system } = process.cpuUsage(cpu)
  const clientCpuMs = (user + system) / 1000
  return { answered: times.length, failed: tally.failed, p50Ms: at(0.5), p99Ms: at(0.99), clientCpuMs }
}

/** Returns the bytes of a request by its number. */
function requestOf(
  { port, method = 'GET', headers = {}, body }: Pick<Load, 'port' | 'method' | 'headers' | 'body'>,
  path: string,
): (number: number) => Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}`
  if (!body) {
    const bytes = Buffer.from(`${head}\r\n`)
    return () => bytes
  }
  const template = JSON.stringify(body)
  return number => {
    const text = template.replaceAll('{n}', String(number))
    const length = Buffer.byteLength(text)
    return Buffer.from(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`)
  }
}

/** Asks again and again, each time by a new connection from a new address when it has asked as often as it may. */
async function keepAsking(ask: () => Promise<void>, over: AbortSignal): Promise<void> {
  while (!over.aborted) await ask()
}

type Source = { port: number; from: string; count: number }

function askFrom({ port, from, count }: Source, next: () => Buffer, tally: Tally, over: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true })
    let missing = 0
    let asked = 0
    let askedAt = 0
    const ask = () => {
      asked++
      askedAt = performance.now()
      socket.write(next())
    }
    socket.once('connect', ask)
    socket.once('error', () => {
      tally.failed++
      resolve()
    })
    socket.on('data', chunk => {
      missing = missing > 0 ? missing - chunk.length : bytesMissing(chunk, tally, askedAt)
      if (missing > 0) return
      if (!over.aborted && asked < count) return ask()
      socket.destroy()
      resolve()
    })
  })
}

/** Counts an answer by its first chunk, which contains its whole head. Returns how many bytes of its body are missing. */
function bytesMissing(chunk: Buffer, tally: Tally, askedAt: number): number {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4
  const head = chunk.toString('latin1', 0, headBytes)
  if (head.startsWith(tally.right)) tally.times.push(performance.now() - askedAt)
  else tally.failed++
  return headBytes + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - chunk.length
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', async (load: Load) => process.send?.(await run(load)))
  process.once('disconnect', () => process.exit())
}
