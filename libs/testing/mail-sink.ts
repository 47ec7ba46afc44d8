import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** What a sink does with each mail. */
export type SinkOptions = {
  /** Called when a recipient was named, before the reply. */
  onRecipient?: (to: string) => void
  /** Called when a mail has arrived, before the reply, which waits for it. */
  onMail?: (to: string, data: string) => Promise<void> | void
  /** Whether the text of mails is kept for `onMail`. Default: no. */
  keepsData?: boolean
}

/** A mail server that accepts every mail and costs next to nothing. */
export type MailSink = { port: number; stop(): Promise<void> }

/** Starts a sink. It knows as much of SMTP as it takes to accept mail. */
export async function startMailSink(options: SinkOptions = {}): Promise<MailSink> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    serve(socket, options)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const END = '\r\n.\r\n'

function serve(socket: Socket, { onRecipient, onMail, keepsData = false }: SinkOptions): void {
  let pending = ''
  let isData = false
  let to = ''
  let data = ''
  const reply = (line: string) => socket.write(`${line}\r\n`)
  const command = (line: string): void => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'RCPT') {
      to = line.slice(line.indexOf('<') + 1, line.indexOf('>'))
      onRecipient?.(to)
    }
    if (verb === 'DATA') {
      isData = true
      data = ''
      return void reply('354 go on')
    }
    reply(verb === 'QUIT' ? '221 bye' : '250 ok')
    if (verb === 'QUIT') socket.end()
  }
  const end = async (): Promise<void> => {
    isData = false
    await onMail?.(to, data)
    reply('250 accepted')
  }
  socket.setEncoding('latin1').on('data', (part: string) => {
    pending += part
    for (;;) {
      const at = pending.indexOf(isData ? END : '\r\n')
      if (isData) {
        if (keepsData) data += at < 0 ? pending.slice(0, -END.length) : pending.slice(0, at)
        if (at < 0) {
          if (pending.length > END.length) pending = pending.slice(-END.length)
          return
        }
        pending = pending.slice(at + END.length)
        void end()
      } else {
        if (at < 0) return
        command(pending.slice(0, at))
        pending = pending.slice(at + 2)
      }
    }
  })
  reply('220 sink')
}
