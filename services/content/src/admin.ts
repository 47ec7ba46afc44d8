import type { AdminCommands } from '@rollcall/admin'
import { busCommands } from '@rollcall/bus/admin'

/** Operator commands of the content service. */
export const commands: AdminCommands = {
  migrate: {
    summary: 'Creates the indexes that are missing',
    load: () => import('./migrate.ts'),
  },
  ...busCommands,
}
