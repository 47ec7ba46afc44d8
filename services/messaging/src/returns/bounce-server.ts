import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { BounceAddresses, BouncedMessage } from './bounce-address.ts'
import { type Report, readReport } from './read-report.ts'

/** What became of a mail. `dropped`: a connection above the limits. `busy`: the sender has to try again. */
export type ReturnOutcome = Report['kind'] | 'ignored' | 'refused' | 'busy' | 'dropped'

/** What the server needs. */
export type BounceServerOptions = {
  /** Name in the greeting. */
  name: string
  host: string
  port: number
  addresses: Pick<BounceAddresses, 'read'>
  /** Records a report. A rejection asks the sender to try again. */
  take(message: BouncedMessage, report: Report): Promise<void>
  count(outcome: ReturnOutcome): void
}

/** A running server. */
export type BounceServer = { port: number; stop(): Promise<void> }

/** Reports name the mail that they are about, up to its size. Only the beginning is read: the report precedes that mail. */
const MAX_BYTES = 2 * 1024 * 1024
const READ_BYTES = 256 * 1024
const MAX_CONNECTIONS = 50
const MAX_CONNECTIONS_EACH = 10
const MAX_CONNECTIONS_PER_SECOND = 50
const MAX_CONNECTION_MS = 120_000
const MAX_CONNECTION_BYTES = 4 * MAX_BYTES
const WATCH_MS = 500
const MAX_IDLE_MS = 20_000
/** A server that returns mails sends few at a time, and knows their addresses. */
const MAX_MAILS = 20
const MAX_REFUSED = 5
const CLOSE_MS = 1_000
const MAX_REPORTS_PER_SECOND = 50
const MAX_REPORTS_IN_HAND = 4

/** Starts the SMTP server for bounces. Recipients are checked by their signature alone, so strangers cost no query. */
export async function startBounceServer(options: BounceServerOptions): Promise<BounceServer> {
  const { name, host, port, count } = options
  const smtp = new SMTPServer({
    name,
    size: MAX_BYTES,
    maxRecipients: 1,
    socketTimeout: MAX_IDLE_MS,
    closeTimeout: CLOSE_MS,
    disableReverseLookup: true,
    disabledCommands: ['AUTH', 'STARTTLS', 'VRFY', 'HELP', 'NOOP'],
    ...handlersOf(options),
  })
  smtp.on('error', () => {}) // clients that disconnect
  const admit = createDoor()
  const server = createServer(socket => {
    socket.on('error', () => {})
    if (admit(socket)) return smtp.connect(socket)
    count('dropped')
    socket.destroy()
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const connection of smtp.connections) connection.close()
      await closed
    },
  }
}

/** Returns what admits connections: a limited number at once, from one address, and per second, each of limited time and size. */
function createDoor(): (socket: Socket) => boolean {
  const open = new Map<string, number>()
  let total = 0
  const mayEnter = createRate(MAX_CONNECTIONS_PER_SECOND)
  return socket => {
    const address = socket.remoteAddress ?? ''
    const fromHere = open.get(address) ?? 0
    if (total >= MAX_CONNECTIONS || fromHere >= MAX_CONNECTIONS_EACH || !mayEnter()) return false
    total++
    open.set(address, fromHere + 1)
    const end = performance.now() + MAX_CONNECTION_MS
    const watch = setInterval(() => {
      if (performance.now() > end || socket.bytesRead > MAX_CONNECTION_BYTES) socket.destroy()
    }, WATCH_MS)
    socket.once('close', () => {
      clearInterval(watch)
      total--
      const left = open.get(address)! - 1
      if (left === 0) open.delete(address)
      else open.set(address, left)
    })
    return true
  }
}

/** Returns a function that allows so many calls in each second. */
function createRate(perSecond: number): () => boolean {
  let second = 0
  let used = 0
  return () => {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) [second, used] = [now, 0]
    return ++used <= perSecond
  }
}

type Handlers = Required<
  Pick<NonNullable<ConstructorParameters<typeof SMTPServer>[0]>, 'onMailFrom' | 'onRcptTo' | 'onData'>
>
type DataStream = Parameters<Handlers['onData']>[0]

function handlersOf({ addresses, take, count }: BounceServerOptions): Handlers {
  const mails = createTally()
  const refused = createTally()
  const mayTake = createRate(MAX_REPORTS_PER_SECOND)
  let inHand = 0
  const handle = async (message: BouncedMessage, stream: DataStream): Promise<ReturnOutcome> => {
    const report = await readReport(await beginningOf(stream))
    if (stream.sizeExceeded) throw refusal(552, 'the message is too large')
    if (!report) return 'ignored'
    if (inHand >= MAX_REPORTS_IN_HAND || !mayTake()) return 'busy'
    inHand++
    return take(message, report)
      .then(
        () => report.kind,
        () => 'busy' as const,
      )
      .finally(() => inHand--)
  }
  return {
    onMailFrom(_address, session, callback) {
      callback(mails(session) > MAX_MAILS ? refusal(421, 'too many messages on this connection') : null)
    },
    onRcptTo({ address }, session, callback) {
      if (addresses.read(address)) return callback(null)
      count('refused')
      callback(refused(session) > MAX_REFUSED ? refusal(421, 'too many addresses') : refusal(550, 'no such address'))
    },
    onData(stream, { envelope: { rcptTo } }, callback) {
      const message = addresses.read(rcptTo[0]!.address)!
      handle(message, stream).then(outcome => {
        count(outcome)
        callback(outcome === 'busy' ? refusal(451, 'try again later') : null)
      }, callback)
    },
  }
}

/** Returns a function that counts the calls with each object. */
function createTally(): (of: object) => number {
  const counts = new WeakMap<object, number>()
  return of => {
    const count = (counts.get(of) ?? 0) + 1
    counts.set(of, count)
    return count
  }
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

/** Reads a mail to its end and returns its beginning. */
async function beginningOf(stream: DataStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (length < READ_BYTES) chunks.push(chunk)
    length += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, READ_BYTES)
}
