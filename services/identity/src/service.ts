import { busSettings, createBus, topics } from '@rollcall/bus'
import { serveWithin } from '@rollcall/rpc'
import type { Lifecycle } from '@rollcall/runtime'
import { createInbox, migrate, startRelay } from '@rollcall/store'
import { bootstrap } from './bootstrap.ts'
import type { Config } from './config.ts'
import { type Context, createContext } from './context.ts'
import { features } from './features/features.ts'
import { organizations } from './organizations/organizations.ts'
import { refreshBuiltIns } from './roles/role.model.ts'
import { roles } from './roles/roles.ts'
import { authentication } from './sessions/authentication.ts'
import { credentials } from './sessions/credentials.ts'
import { tokenUsage } from './tokens/token-usage.ts'
import { tokens } from './tokens/tokens.ts'
import { directory } from './users/directory.ts'
import { onEmailEvents } from './users/on-email-events.ts'
import { renewEmailKeys } from './users/renew-email-keys.ts'
import { users } from './users/users.ts'
import { invitations } from './workspaces/invitations.ts'
import { members } from './workspaces/members.ts'
import { workspaces } from './workspaces/workspaces.ts'

/** Starts the identity service: users, sessions, tokens and roles over gRPC on `PORT`, their events on Kafka. */
export async function startIdentity(config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  const context = await createContext(config, lifecycle)
  lifecycle.health.addReadyCheck('mongodb', context.store.ping)
  if (config.MIGRATE_AT_START) await prepareDatabase(context, config, lifecycle)
  startEvents(context, config, lifecycle)
  return startServer(context, config, lifecycle)
}

/** Makes the indexes, built-in roles, email keys and, in an empty database, the first organization. Can run at any time. */
export async function prepareDatabase(context: Context, config: Config, { logger }: Lifecycle): Promise<void> {
  await migrate(context.store, logger)
  await refreshBuiltIns(context.models.roles)
  await renewEmailKeys(context.models.users)
  const { BOOTSTRAP_EMAIL: email, BOOTSTRAP_PASSWORD: password, BOOTSTRAP_ORGANIZATION: organization } = config
  if (email !== undefined && password !== undefined) await bootstrap(context, { email, password, organization })
}

function startEvents(context: Context, config: Config, { logger, metrics, onStop }: Lifecycle): void {
  const { store } = context
  const bus = createBus({ ...busSettings(config), clientId: 'identity', logger, metrics, inbox: createInbox(store) })
  onStop('bus', bus.close)
  bus.subscribe(onEmailEvents(context))
  const relay = startRelay({ store, publish: events => bus.publish(topics.identity, events), logger, metrics })
  onStop('relay', relay.stop)
}

async function startServer(context: Context, config: Config, lifecycle: Lifecycle): Promise<{ port: number }> {
  return serveWithin(lifecycle, config, {
    'rollcall.identity.v1.Authentication': authentication(context),
    'rollcall.identity.v1.Credentials': credentials(context),
    'rollcall.identity.v1.Directory': directory(context),
    'rollcall.identity.v1.Features': features(context),
    'rollcall.identity.v1.Invitations': invitations(context),
    'rollcall.identity.v1.Members': members(context),
    'rollcall.identity.v1.Organizations': organizations(context),
    'rollcall.identity.v1.Roles': roles(context),
    'rollcall.identity.v1.TokenUsage': tokenUsage(context),
    'rollcall.identity.v1.Tokens': tokens(context),
    'rollcall.identity.v1.Users': users(context),
    'rollcall.identity.v1.Workspaces': workspaces(context),
  })
}
