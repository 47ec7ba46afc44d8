import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What a link does with traffic: forwards it, disconnects, drops it, or delays it. */
export type LinkMode = 'open' | 'cut' | 'silent' | 'slow'

/** A proxy to a server that fails like a network. */
export type Link = {
  /** The server's URL or address, with the port of the link. */
  url: string
  become(mode: LinkMode): void
  stop(): Promise<void>
}

/** Delay of a slow link, per chunk and direction. */
const SLOW_MS = 300

/** Opens a link to the server of a URL, or of a host:port. */
export async function linkTo(target: string): Promise<Link> {
  const { hostname, port } = new URL(target.includes('://') ? target : `tcp://${target}`)
  const sockets = new Set<Socket>()
  let mode: LinkMode = 'open'

  const forward = (from: Socket, to: Socket) => {
    sockets.add(from)
    from.on('data', bytes => {
      if (mode === 'open') to.write(bytes)
      // Delayed chunks stay in order, because all have the same delay.
      if (mode === 'slow') setTimeout(() => to.destroyed || to.write(bytes), SLOW_MS)
    })
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }
  const server = createServer(client => {
    if (mode === 'cut') return void client.destroy()
    const upstream = connect({ host: hostname, port: Number(port) })
    forward(client, upstream)
    forward(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.destroy()
  }

  return {
    url: target.replace(`:${port}`, `:${(server.address() as AddressInfo).port}`),
    become(next) {
      // Dropped bytes are missing from the streams, and delayed ones would be overtaken.
      if (next === 'cut' || mode === 'silent' || mode === 'slow') breakAll()
      mode = next
    },
    async stop() {
      server.close()
      breakAll()
      await once(server, 'close')
    },
  }
}
