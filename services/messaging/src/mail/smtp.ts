import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type AddressPolicy, isOutside, resolveHost, UnsafeHost } from '@rollcall/egress'
import { within } from '@rollcall/runtime'
import { LRUCache } from 'lru-cache'
import { createTransport } from 'nodemailer'
import pLimit, { type LimitFunction } from 'p-limit'
import type { Payload } from './compose.ts'
import { DeliveryError, heldBack } from './delivery-error.ts'
import { isBadAddressStatus } from './enhanced-status.ts'
import { checkPort } from './mail-ports.ts'

/** An SMTP server. */
export type SmtpServer = {
  host: string
  port: number
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  secure: boolean
  auth?: { user: string; pass: string } | { user: string; accessToken: string }
}

/** Parses a server's URL: smtp://user:password@host:587, or smtps:// for TLS from the first byte. */
export function smtpServerOf(url: string): SmtpServer {
  const { protocol, hostname: host, port, username, password } = new URL(url)
  const secure = protocol === 'smtps:'
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  return { host, port: Number(port) || (secure ? 465 : 587), secure, ...(username !== '' && { auth }) }
}

/** Whether a mail may still go once it has a connection, for which it may have to wait. */
export type SendControl = {
  /** Called when the server is ready for the text. If it rejects, the server gets none, and the mail is held back. */
  confirm?: (() => Promise<void>) | undefined
  /** Holds the mail back when it fires, unless the server has its text. */
  signal?: AbortSignal | undefined
}

/** Connections to SMTP servers, kept open for some time for the next mail. */
export type SmtpConnections = {
  /** Sends a mail and returns the server's reply, within a time limit. @throws {DeliveryError} */
  send(server: SmtpServer, payload: Payload, policy: AddressPolicy, control?: SendControl): Promise<string>
  /** Connects and signs in, on a connection of its own that it closes. @throws {DeliveryError} */
  verify(server: SmtpServer, policy: AddressPolicy): Promise<void>
  close(): void
}

const CONNECT_MS = 10_000
const REPLY_MS = 30_000
/** A server that sends its replies line by line takes as long as it likes for each. */
const MAX_SEND_MS = 90_000
const IDLE_MS = 60_000
const MAX_POOLS = 200
/** Connections to one server. */
export const CONNECTIONS_EACH = 10

/** Creates the connections, one pool per server. */
export function createSmtpConnections({ maxMs = MAX_SEND_MS } = {}): SmtpConnections {
  const pools = new LRUCache<string, Pool>({ max: MAX_POOLS, dispose: ({ transport }) => transport.close() })
  return {
    send(server, payload, policy, control = {}) {
      const { transport, limiter } = poolOf(pools, server, policy)
      return limiter(() => sendNow(transport, payload, { ...control, maxMs }))
    },
    async verify(server, policy) {
      const opened: Socket[] = []
      const transport = createTransport(optionsOf(server, policy, socket => opened.push(socket)))
      try {
        await within(maxMs, 'signing in', () => transport.verify())
      } catch (error) {
        for (const socket of opened) socket.destroy()
        throw smtpFailure(error, false)
      } finally {
        transport.close()
      }
    },
    close: () => pools.clear(),
  }
}

/** A mail on its way. `hasText`: its server may have the text, and only then may have accepted it. */
type Sending = Pick<SendControl, 'confirm'> & { hasText: boolean; end: AbortController }
type SendOptions = Parameters<Transport['sendMail']>[0]

/** Sends a mail that has a connection. @throws {DeliveryError} */
async function sendNow(
  transport: Transport,
  { from, to, raw }: Payload,
  { confirm, signal, maxMs }: SendControl & { maxMs: number },
): Promise<string> {
  const sending: Sending = { confirm, hasText: false, end: new AbortController() }
  const { signal: ended } = sending.end
  const holdBack = () => {
    if (!sending.hasText) sending.end.abort(heldBack(signal?.reason))
  }
  const limit = setTimeout(() => sending.end.abort(new Error(`no success within ${maxMs / 1000} s`)), maxMs)
  signal?.addEventListener('abort', holdBack)
  if (signal?.aborted) holdBack()
  try {
    const mail = { envelope: { from, to: [to] }, raw, signal: ended, sending }
    return (await transport.sendMail(mail as SendOptions)).response
  } catch (error) {
    throw smtpFailure(ended.aborted ? ended.reason : error, sending.hasText)
  } finally {
    clearTimeout(limit)
    signal?.removeEventListener('abort', holdBack)
  }
}

/** Connections to one server. The limiter queues mails, so that the time limit of one begins once it has a connection. */
type Pool = { transport: Transport; limiter: LimitFunction }
type Transport = ReturnType<typeof createPooledTransport>

function poolOf(pools: LRUCache<string, Pool>, server: SmtpServer, policy: AddressPolicy): Pool {
  const key = JSON.stringify([server, policy.allowPrivate])
  const known = pools.get(key)
  if (known) return known
  const pool = { transport: createPooledTransport(server, policy), limiter: pLimit(CONNECTIONS_EACH) }
  pools.set(key, pool)
  return pool
}

/** Options of connections to a server: to its checked address only. */
function optionsOf(server: SmtpServer, policy: AddressPolicy, onSocket?: (socket: Socket) => void) {
  const { host, port, secure, auth } = server
  return {
    host,
    port,
    secure,
    ...(auth && { auth: 'pass' in auth ? auth : { type: 'OAuth2' as const, ...auth } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: REPLY_MS,
    socketTimeout: REPLY_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options: object, callback: GotSocket) => {
      openSocket(server, policy).then(
        socket => {
          onSocket?.(socket.connection)
          callback(null, socket)
        },
        error => callback(error),
      )
    },
  }
}

function createPooledTransport(server: SmtpServer, policy: AddressPolicy) {
  const transport = createTransport({
    ...optionsOf(server, policy),
    pool: true,
    maxConnections: CONNECTIONS_EACH,
    maxRequeues: 1, // retries once if the server closed an idle connection
    idleTimeout: IDLE_MS,
  })
  transport.use('stream', (mail, done) => {
    const { sending } = mail.data as { sending?: Sending }
    const create = mail.message.createReadStream.bind(mail.message)
    // Read once the server is ready for the text.
    mail.message.createReadStream = options => {
      const text = create(options)
      return sending ? Readable.from(confirmed(text, sending), { objectMode: false }) : text
    }
    done()
  })
  return transport
}

async function* confirmed(text: Readable, sending: Sending): AsyncGenerator<Buffer> {
  try {
    await sending.confirm?.()
  } catch (error) {
    sending.end.abort(heldBack(error))
    throw error
  }
  sending.hasText = true
  yield* text
}

type GotSocket = (error: Error | null, socket?: Awaited<ReturnType<typeof openSocket>>) => void

/**
 * Connects to the checked address, without resolving the name again. Sends passwords only over TLS to a server with a
 * valid certificate. Only servers in private networks, if allowed, need neither.
 */
async function openSocket(server: SmtpServer, policy: AddressPolicy) {
  checkPort(server.port, policy)
  const { address, name } = await resolveHost(server.host, policy)
  const outside = isOutside(address)
  return {
    connection: await connected(address, server.port),
    ...(isIP(name) === 0 && { servername: name }),
    requireTLS: outside && server.auth !== undefined,
    tls: { rejectUnauthorized: outside && (server.secure || server.auth !== undefined) },
  }
}

async function connected(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, timeout: CONNECT_MS })
  socket.once('timeout', () => socket.destroy(new Error(`no connection to ${host}:${port} in time`)))
  await once(socket, 'connect')
  return socket.setTimeout(0)
}

type SmtpError = { message: string; code?: string; command?: string; response?: string; responseCode?: number }

/** Converts an error of SMTP to a delivery error. */
function smtpFailure(cause: unknown, wasTextRead: boolean): DeliveryError {
  if (cause instanceof DeliveryError) return cause
  if (cause instanceof UnsafeHost) return new DeliveryError('failed', `host: ${cause.message}`, { cause })
  const { message, code, command, response, responseCode = 0 } = cause as SmtpError
  const reply = response ?? message
  if (responseCode < 500) {
    const isLocalError = responseCode === 0 && (code === 'EENVELOPE' || code === 'EMESSAGE')
    if (isLocalError) return new DeliveryError('failed', reply, { isAboutMail: true, cause })
    const hasNoReply = responseCode === 0
    const mayHaveArrived = hasNoReply && wasTextRead
    return new DeliveryError('transient', reply, { mayHaveArrived, isUnreachable: hasNoReply && !wasTextRead, cause })
  }
  const isAboutMail = command === 'RCPT TO' || command === 'DATA'
  return new DeliveryError(isAboutMail ? 'bounced' : 'failed', reply, {
    isBadAddress: isBadAddress(command, reply),
    cause,
  })
}

/**
 * Whether the server rejected the address itself: by the enhanced code, or without one, if it rejected the recipient.
 */
function isBadAddress(command: string | undefined, reply: string): boolean {
  const [, enhanced] = /^5\d\d[ -](5\.\d+\.\d+)/.exec(reply) ?? []
  return enhanced === undefined ? command === 'RCPT TO' : isBadAddressStatus(enhanced)
}
