import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { eventually } from './eventually.ts'

/** A received mail, the authenticated user, and the TLS server name (false without TLS). */
export type Arrived = {
  from: string
  to: string
  raw: Buffer
  user: string | undefined
  servername: string | false
}

/** An SMTP reply that rejects. */
export type Refusal = { code: number; message: string }
/** Rejects a recipient or a message; `disconnect` ends this connection without a reply, undefined accepts. */
export type Refuse = (to: string, stage: 'RCPT' | 'DATA') => Verdict | Promise<Verdict>
type Verdict = Refusal | 'disconnect' | undefined

/** A real mail server on this machine. */
export type MailServer = {
  port: number
  /** Accepted mails, in order. */
  mails: Arrived[]
  /** All recipients, accepted or rejected. */
  asked: string[]
  refuse: Refuse
  /** The greeting of a server that serves nobody; undefined: it serves. */
  closed: Refusal | undefined
  /** Ends all connections at once, without a reply. */
  disconnect(): void
  /** Waits for a mail to this address and returns it. */
  mailTo(address: string): Promise<Arrived>
  stop(): Promise<void>
}

/** Starts a mail server. With `user` it requires authentication, by password or by access token. */
export async function startMailServer(
  options: { user?: string; secret?: string | (() => string); host?: string; port?: number } = {},
): Promise<MailServer> {
  const { user, secret, host = '127.0.0.1', port = 0 } = options
  const mails: Arrived[] = []
  const asked: string[] = []
  const errorOf = (refusal: Refusal | undefined) =>
    refusal && Object.assign(new Error(refusal.message), { responseCode: refusal.code })
  const judge = async (to: string, stage: 'RCPT' | 'DATA', { remotePort }: SMTPServerSession) => {
    const verdict = await running.refuse(to, stage)
    if (verdict !== 'disconnect') return errorOf(verdict)
    for (const socket of sockets) if (socket.remotePort === remotePort) socket.destroy()
    return new Error('disconnected')
  }
  const server = new SMTPServer({
    authOptional: user === undefined,
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    disableReverseLookup: true,
    onConnect(_session, callback) {
      callback(errorOf(running.closed))
    },
    onAuth({ username, password, accessToken }, _session, callback) {
      const expected = typeof secret === 'function' ? secret() : secret
      if (username === user && (password ?? accessToken) === expected) callback(null, { user: username ?? '' })
      else callback(new Error('Invalid login'))
    },
    onRcptTo({ address }, session, callback) {
      asked.push(address)
      void judge(address, 'RCPT', session).then(callback)
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope
        const to = rcptTo[0]?.address ?? ''
        const refusal = await judge(to, 'DATA', session)
        if (refusal) return callback(refusal)
        const from = mailFrom === false ? '' : mailFrom.address
        mails.push({
          from,
          to,
          raw: Buffer.concat(chunks),
          user: session.user,
          servername: session.servername ?? false,
        })
        callback(null)
      })
    },
  })
  server.on('error', () => {}) // disconnected clients
  const listening = server.listen(port, host)
  const sockets = new Set<Socket>()
  listening.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await once(listening, 'listening')
  const running: MailServer = {
    port: (listening.address() as AddressInfo).port,
    mails,
    asked,
    refuse: () => undefined,
    closed: undefined,
    disconnect: () => {
      for (const socket of sockets) socket.destroy()
    },
    mailTo: address => eventually(`a mail to ${address}`, () => mails.find(({ to }) => to === address)),
    stop: () => new Promise(resolve => server.close(() => resolve())),
  }
  return running
}
