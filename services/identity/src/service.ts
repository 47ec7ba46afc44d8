import { defineService } from '@rollcall/service'
import { account } from './account/account.ts'
import { bootstrap } from './bootstrap.ts'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { type Context, createContext } from './context.ts'
import { features } from './features/features.ts'
import { organizations } from './organizations/organizations.ts'
import { origins } from './organizations/origins.ts'
import { settings } from './organizations/settings.ts'
import { personalData } from './personal-data.ts'
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

/** The identity service: organizations, users, sessions, tokens, roles and workspaces. */
export const service = defineService({
  name: 'identity',
  config: readConfig,
  collections,
  context: createContext,
  prepare,
  handlers: context => ({
    'rollcall.identity.v1.Account': account(context),
    'rollcall.identity.v1.Authentication': authentication(context),
    'rollcall.identity.v1.Credentials': credentials(context),
    'rollcall.identity.v1.Directory': directory(context),
    'rollcall.identity.v1.Features': features(context),
    'rollcall.identity.v1.Invitations': invitations(context),
    'rollcall.identity.v1.Members': members(context),
    'rollcall.identity.v1.Organizations': organizations(context),
    'rollcall.identity.v1.Origins': origins(context),
    'rollcall.identity.v1.Roles': roles(context),
    'rollcall.identity.v1.Settings': settings(context),
    'rollcall.identity.v1.TokenUsage': tokenUsage(context),
    'rollcall.identity.v1.Tokens': tokens(context),
    'rollcall.identity.v1.Users': users(context),
    'rollcall.identity.v1.Workspaces': workspaces(context),
  }),
  personalData,
  subscribers: context => [onEmailEvents(context)],
})

/** Updates the built-in roles and email keys; creates the first organization in an empty database. */
async function prepare(context: Context): Promise<void> {
  await refreshBuiltIns(context.collections.unscoped.roles)
  await renewEmailKeys(context.collections.unscoped.users)
  if (context.founder) await bootstrap(context, context.founder)
}
