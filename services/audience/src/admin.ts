import type { AdminCommands } from '@rollcall/admin'
import { busCommands } from '@rollcall/bus/admin'

/** The audience's commands for operators. */
export const commands: AdminCommands = {
  migrate: {
    summary: 'Creates the indexes that are missing',
    load: () => import('./migrate.ts'),
  },
  'repair-counts': {
    summary:
      'Recounts contacts, the members of lists and their growth, compares columns with contacts, and corrects what is wrong',
    load: () => import('./repair-counts.ts'),
  },
  ...busCommands,
}
