import { connect, type Socket } from 'node:net'
import type { Document } from 'bson'
import { messageOf, onMessages, replyOf } from './wire.ts'

/** A connection to a server, which replies to commands in their order. */
export type Upstream = {
  socket: Socket
  /** Sends a message and resolves with its reply. Rejects if the connection closes first. */
  exchange(message: Buffer): Promise<Buffer>
}

/** Opens a connection to a server. Exchanges on a closed one reject. */
export function connectUpstream(address: { host: string; port: number }): Upstream {
  const socket = connect(address)
  socket.setNoDelay(true)
  let waiting: PromiseWithResolvers<Buffer>[] = []
  onMessages(socket, message => waiting.shift()?.resolve(message))
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const { reject } of waiting) reject(new Error('the server closed the connection'))
    waiting = []
  })
  return {
    socket,
    async exchange(message) {
      if (socket.destroyed) throw new Error('the server closed the connection')
      const reply = Promise.withResolvers<Buffer>()
      waiting.push(reply)
      socket.write(message)
      return reply.promise
    },
  }
}

/** Commands of the proxy itself. */
export type Control = {
  /** Runs a command and returns its reply, which may be an error. */
  command(document: Document): Promise<Document>
  stop(): void
}

/** Returns a client that runs commands in any session; a driver's client gives each its own. */
export function createControl(address: { host: string; port: number }): Control {
  const idle: Upstream[] = []
  const all = new Set<Upstream>()
  const open = () => {
    const upstream = connectUpstream(address)
    all.add(upstream)
    upstream.socket.once('close', () => all.delete(upstream))
    return upstream
  }
  return {
    async command(document) {
      let upstream = idle.pop()
      while (upstream?.socket.destroyed) upstream = idle.pop()
      upstream ??= open()
      const reply = await upstream.exchange(messageOf(document))
      idle.push(upstream)
      return replyOf(reply)
    },
    stop() {
      for (const { socket } of all) socket.destroy()
    },
  }
}
