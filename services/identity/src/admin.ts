import type { AdminCommands } from '@rollcall/admin'
import { busCommands } from '@rollcall/bus/admin'

/** Operator commands of the identity service. */
export const commands: AdminCommands = {
  migrate: {
    summary: 'Creates the indexes that are missing, and the first organization in an empty database',
    load: () => import('./migrate.ts'),
  },
  'count-hashes': {
    summary: 'Counts secrets hashed under an old key of TOKEN_KEY; fails if there are any',
    load: () => import('./count-hashes.ts'),
  },
  'rotate-secrets': {
    summary: 'Encrypts all stored secrets under the first key of SECRET_KEYS',
    load: () => import('./rotate-secrets.ts'),
  },
  'reset-second-factor': {
    summary: 'Turns the second factor of an account off, as for the only owner who has lost it',
    args: ['ORGANIZATION_ID', 'EMAIL'],
    load: async (organizationId, email) =>
      (await import('./reset-second-factor.ts')).resetSecondFactor(organizationId!, email!),
  },
  ...busCommands,
}
