import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { Problem } from './problem.ts'

/** Everything local listens here and nowhere else. */
export const LOCALHOST = '127.0.0.1'

/** Below what systems take for the near ends of connections: what stopped for a moment finds its port free when it is back. */
const FREE_PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100
/** Ports that this process was given, and may not listen on yet. */
const given = new Set<number>()

/** A port nobody listens on at this moment, and another one each time. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = FREE_PORTS.from + Math.floor(Math.random() * (FREE_PORTS.to - FREE_PORTS.from))
    if (given.has(port)) continue
    try {
      await tryListen(port, LOCALHOST)
      given.add(port)
      return port
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}

/** Free ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports
}

/** Refuses a configured port that cannot be listened on; `setting` is the variable that chose it. */
export async function assertFree(port: number, setting: string, host = LOCALHOST): Promise<void> {
  try {
    await tryListen(port, host)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be opened (${code})`
    throw new Problem(`port ${port} ${reason}: stop that program, or set ${setting} to another port`)
  }
}

/** An open connection; rejects when nobody listens, or does not answer in time. */
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
