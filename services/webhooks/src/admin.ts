import type { AdminCommands } from '@rollcall/admin'
import { busCommands } from '@rollcall/bus/admin'

/** Operator commands of the webhooks service. */
export const commands: AdminCommands = {
  migrate: {
    summary: 'Creates the indexes that are missing',
    load: () => import('./migrate.ts'),
  },
  'rotate-secrets': {
    summary: 'Encrypts all stored secrets under the first key of SECRET_KEYS',
    load: () => import('./rotate-secrets.ts'),
  },
  ...busCommands,
}
