import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A load run: repeats GET of one path on `connections` keep-alive connections, each from its own address. */
export type Load = { port: number; path: string; headers?: Record<string, string>; connections: number; ms: number }

/** Result of a load run; `failed` counts every answer that was not 2xx. */
export type LoadResult = { answered: number; failed: number }

const longestWaitMs = 10_000

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
const addressOf = (index: number) => `127.0.${index >> 8}.${(index & 255) + 2}`

async function run({ port, path, headers = {}, connections, ms }: Load): Promise<LoadResult> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n`)
  const result = { answered: 0, failed: 0 }
  const over = AbortSignal.timeout(ms)
  const clients = Array.from({ length: Math.min(connections, 250) }, (_, index) =>
    keepAsking(port, addressOf(index), request, result, over),
  )
  await Promise.race([Promise.all(clients), delay(ms + longestWaitMs, undefined, { ref: false })])
  return result
}

function keepAsking(port: number, from: string, request: Buffer, result: LoadResult, over: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true })
    let missing = 0
    socket.once('connect', () => socket.write(request))
    socket.once('error', () => {
      result.failed++
      resolve()
    })
    socket.on('data', chunk => {
      missing = missing > 0 ? missing - chunk.length : bytesMissing(chunk, result)
      if (missing > 0) return
      if (!over.aborted) return void socket.write(request)
      socket.destroy()
      resolve()
    })
  })
}

/** Counts an answer by its first chunk, which contains its whole head. Returns how many bytes of its body are missing. */
function bytesMissing(chunk: Buffer, result: LoadResult): number {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4
  const head = chunk.toString('latin1', 0, headBytes)
  if (head.startsWith('HTTP/1.1 2')) result.answered++
  else result.failed++
  return headBytes + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - chunk.length
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', async (load: Load) => process.send?.(await run(load)))
  process.once('disconnect', () => process.exit())
}
