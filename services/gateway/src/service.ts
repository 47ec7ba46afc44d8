import type { Lifecycle } from '@rollcall/runtime'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createContext } from './context.ts'
import { startServer } from './server.ts'

/**
 * Starts the gateway: the API on `PORT`. It is ready once it has reached identity; from then on it stays ready whatever
 * is away, because it then still serves what does not need it, and answers 503 with a reason to retry to the rest.
 */
export async function startGateway(config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  const context = createContext(config, lifecycle)
  const server = await startServer(createApp(context), {
    port: config.PORT,
    host: config.LISTEN_HOST,
    requestTimeoutMs: config.STREAM_DEADLINE_MS,
  })
  lifecycle.onStop('http', server.stop)
  let wasReached = false
  lifecycle.health.addReadyCheck('identity', async () => {
    if (!wasReached) await context.backends.ready('identity', 500)
    wasReached = true
  })
  return { port: server.port }
}
