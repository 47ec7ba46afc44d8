import type { AdminCommands } from '@rollcall/admin'
import { busCommands } from '@rollcall/bus/admin'

/** The commands of the import service for operators. */
export const commands: AdminCommands = {
  migrate: {
    summary: 'Creates the indexes that are missing',
    load: () => import('./migrate.ts'),
  },
  ...busCommands,
}
