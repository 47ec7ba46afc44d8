import type { AdminCommands } from '@rollcall/admin'
import { busCommands } from '@rollcall/bus/admin'

/** The audience's commands for operators. */
export const commands: AdminCommands = {
  migrate: {
    summary: 'Creates the indexes that are missing',
    load: () => import('./migrate.ts'),
  },
  'repair-counts': {
    summary: 'Recounts contacts and the members of lists, and corrects wrong totals',
    load: () => import('./repair-counts.ts'),
  },
  ...busCommands,
}
