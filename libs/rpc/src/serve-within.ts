import type { Lifecycle } from '@rollcall/runtime'
import { rpcServerSettings, type ServerConfig } from './config.ts'
import { type ServeOptions, serve } from './server.ts'

/**
 * Serves a service's handlers with the settings of its environment until its lifecycle stops. Health probes fail as soon
 * as the stop begins, and the server closes at its step.
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
