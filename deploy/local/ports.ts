import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { Problem } from './problem.ts'

/** The only address that local servers listen on. */
export const LOCALHOST = '127.0.0.1'

/**
 * Ports of `freePort`, unless FREE_PORTS (`from-to`) names others. Below the ephemeral ports, so that a restarted server
 * finds its port free.
 */
const FREE_PORTS = '30000-31999'
const MAX_ATTEMPTS = 100
const ports = portsInTurn()

/** Returns a port that is free now, and that this process did not return before unless it has had all others. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = ports.next().value
    try {
      await tryListen(port, LOCALHOST)
      return port
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error
    }
  }
}

function* portsInTurn(): Generator<number, never> {
  const [from = 0, to = 0] = (process.env.FREE_PORTS ?? FREE_PORTS).split('-').map(Number)
  const count = to - from + 1
  for (let turn = Math.floor(Math.random() * count); ; turn++) yield from + (turn % count)
}

/** Returns different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports
}

/** Throws a Problem if a configured port cannot be opened; `setting` is its variable. */
export async function assertFree(port: number, setting: string, host = LOCALHOST): Promise<void> {
  try {
    await tryListen(port, host)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be opened (${code})`
    throw new Problem(`port ${port} ${reason}: stop that program, or set ${setting} to another port`)
  }
}

/** Opens a connection; rejects when it is refused or exceeds the timeout. */
export async function connectTo(host: string, port: number, timeoutMs: number): Promise<Socket> {
  const socket = createConnection({ host, port, timeout: timeoutMs })
  socket.once('timeout', () => socket.destroy(new Error(`no answer from ${host}:${port}`)))
  await once(socket, 'connect')
  return socket
}

function tryListen(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve()))
  })
}
