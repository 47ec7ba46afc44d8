import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Number of clients of each kind. They keep their connections, and reconnect when these are closed. */
export type Attack = { bodies: number; heads: number; readers: number; idle: number; writers: number }
/** Requests of normal clients. */
export type Asking = { perSecond: number; ms: number }
export type Task = { port: number; token: string } & ({ attack: Attack } | { ask: Asking })
/** Latencies in milliseconds, and the statuses and errors of failures. */
export type Asked = { answered: number; failures: (number | string)[]; p50: number; p99: number }

const mebibyte = 2 ** 20
const comeBackAfterMs = 30_000
/** Pace of a network: bytes that arrive all at once are a flood, not a slow client. */
const opensPerSecond = { bodies: 40, heads: 500, readers: 20, idle: 1_000, writers: 100 }
const writeEveryMs = 50
/** Within the limits of one address. */
const clientsPerAddress = { bodies: 12, heads: 250, readers: 5, idle: 250, writers: 10 }
const nets = { bodies: 1, readers: 2, idle: 3, writers: 4, heads: 5, asking: 6 }

async function attack({ port, token, attack }: { port: number; token: string; attack: Attack }): Promise<void> {
  const head = (line: string, ...more: string[]) =>
    `${[line, 'Host: a', `Authorization: ${token}`, ...more].join('\r\n')}\r\n\r\n`
  const json = 'Content-Type: application/json'
  const almostAll = Buffer.alloc(mebibyte - 64, ' ')
  const behaviours: Record<keyof Attack, (socket: Socket) => void> = {
    bodies(socket) {
      socket.resume().write(head('POST /api/audience HTTP/1.1', json, `Content-Length: ${mebibyte}`))
      socket.write(almostAll)
    },
    heads(socket) {
      socket.resume().write(`GET /api/audience HTTP/1.1\r\nX-Long: ${'x'.repeat(60 * 1024)}`)
    },
    readers(socket) {
      socket.write(head('GET /api/audience?$limit=1000 HTTP/1.1'))
    },
    idle: socket => void socket.resume(),
    writers(socket) {
      socket.resume().write(head('POST /api/audience HTTP/1.1', json, 'Transfer-Encoding: chunked'))
      const writing = setInterval(() => socket.write('1\r\n \r\n'), writeEveryMs)
      socket.once('close', () => clearInterval(writing))
    },
  }
  const opened = (Object.entries(behaviours) as [keyof Attack, (socket: Socket) => void][]).map(
    async ([kind, behave]) => {
      for (let index = 0; index < attack[kind]; index++) {
        const localAddress = `127.${nets[kind]}.0.${2 + Math.floor(index / clientsPerAddress[kind])}`
        void keepUp(port, localAddress, behave)
        await sleep(1_000 / opensPerSecond[kind])
      }
    },
  )
  await Promise.all(opened)
}

async function keepUp(port: number, localAddress: string, behave: (socket: Socket) => void): Promise<never> {
  for (;;) {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).pause()
    socket.on('error', () => {})
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.once('connect', () => behave(socket))
    await closed
    await sleep(comeBackAfterMs)
  }
}

/** Sends requests at a steady pace, alternately reads and writes, from several addresses. */
async function ask({ port, token, ask }: { port: number; token: string; ask: Asking }): Promise<Asked> {
  const latencies: number[] = []
  const failures: (number | string)[] = []
  const agents = Array.from({ length: 10 }, () => new Agent({ keepAlive: true }))
  const one = async (number: number) => {
    const localAddress = `127.${nets.asking}.0.${2 + (number % agents.length)}`
    const startedAt = performance.now()
    const status = await statusOf({ port, token, localAddress, agent: agents[number % agents.length]!, number }).then(
      status => status,
      error => String(error.code ?? error.message),
    )
    latencies.push(performance.now() - startedAt)
    if (typeof status === 'string' || status >= 300) failures.push(status)
  }
  const count = Math.round((ask.perSecond * ask.ms) / 1000)
  const under: Promise<void>[] = []
  for (let number = 0, next = performance.now(); number < count; number++, next += 1000 / ask.perSecond) {
    await sleep(Math.max(0, next - performance.now()))
    under.push(one(number))
  }
  await Promise.all(under)
  for (const agent of agents) agent.destroy()
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!
  return { answered: count - failures.length, failures, p50: at(0.5), p99: at(0.99) }
}

type One = { port: number; token: string; localAddress: string; agent: Agent; number: number }

async function statusOf({ port, token, localAddress, agent, number }: One): Promise<number> {
  const isWrite = number % 2 === 1
  const sent = request({
    ...{ port, host: '127.0.0.1', localAddress, agent, timeout: 20_000 },
    method: isWrite ? 'POST' : 'GET',
    path: isWrite ? '/api/audience' : `/api/audience/${'c0ffee'.repeat(4)}`,
    headers: { Authorization: token, ...(isWrite && { 'Content-Type': 'application/json' }) },
  })
  sent.once('timeout', () => sent.destroy(new Error('no answer')))
  sent.end(isWrite ? '{"email":"a@example.com"}' : '')
  const [response] = await once(sent, 'response')
  await once(response.resume(), 'end')
  return response.statusCode
}

process.on('message', async (task: Task) => {
  if ('attack' in task) await attack(task)
  process.send?.('ask' in task ? await ask(task) : {})
})
process.once('disconnect', () => process.exit())
