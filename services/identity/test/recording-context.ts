import { createSecretHashers } from '@rollcall/credentials'
import { createLogger } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { collections } from '../src/collections.ts'
import type { Context } from '../src/context.ts'
import type { Harness } from './identity.ts'

/** A command as the driver sends it. */
export type SentCommand = Record<string, unknown>

/** Creates a context on the database of a harness, without cache and mails, that records the commands it sends. */
export async function recordingContext({ config }: Harness) {
  const url = new URL(config.MONGODB_URL)
  url.searchParams.set('monitorCommands', 'true')
  const store = await connectStore({
    url: url.href,
    dbName: config.MONGODB_DATABASE,
    logger: createLogger({ service: 'identity-test', level: 'silent' }),
    timeoutMs: scaledTimeout(15_000),
  })
  const commands: SentCommand[] = []
  store.connection.getClient().on('commandStarted', ({ command }) => commands.push(command))
  const limit = 10_000
  const context = {
    store,
    collections: collections(store),
    credentials: { change: (_: unknown, write: (timeoutMs: number) => unknown) => write(scaledTimeout(15_000)) },
    secrets: createSecretHashers(config.TOKEN_KEY),
    quotas: { tokens: limit, invitations: limit },
    mailer: { send: async () => undefined },
    consoleUrl: 'https://console.example.com',
  } as unknown as Context
  return { context, commands, close: () => store.close() }
}
