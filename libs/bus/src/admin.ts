import type { AdminCommands } from '@rollcall/admin'

/** The commands of each service that uses Kafka. */
export const busCommands: AdminCommands = {
  'create-topics': {
    summary: 'Creates missing Kafka topics, of all services',
    load: () => import('./create-topics.ts'),
  },
  'redeliver-events': {
    summary: 'Publishes the dead letters of every topic again',
    load: () => import('./redeliver-events.ts'),
  },
}
