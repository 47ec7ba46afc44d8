import type { Lifecycle } from '@rollcall/runtime'
import { rpcServerSettings, type ServerConfig } from './config.ts'
import { type ServeOptions, serve } from './server.ts'

/**
 * Serves a service's handlers as its environment says and for as long as its lifecycle goes: health probes learn at once
 * that a stop has begun, and the server closes in its turn.
 */
export async function serveWithin(
  { logger, metrics, onStop, shutdown }: Lifecycle,
  config: ServerConfig & { LISTEN_HOST: string },
  services: ServeOptions['services'],
): Promise<{ port: number }> {
  const server = await serve({ services, ...rpcServerSettings(config), logger, metrics })
  shutdown.addEventListener('abort', server.drain)
  onStop('grpc', server.stop)
  return { port: server.port }
}
