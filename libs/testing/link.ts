import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What a link does with what goes over it: passes it on, breaks off, swallows it, or takes its time. */
export type LinkMode = 'open' | 'cut' | 'silent' | 'slow'

/** A way to a server that can fail as networks do, for tests. */
export type Link = {
  /** The server's URL or address, with the port of the link. */
  url: string
  become(mode: LinkMode): void
  stop(): Promise<void>
}

/** What a slow link adds to each piece in each direction. */
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
      // Late pieces stay in order: those that come after them wait as long.
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
      // What was swallowed is missing from the stream, and what is under way would be overtaken.
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
