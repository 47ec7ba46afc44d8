import { service } from './service.ts'

/** Prepares the database, if the service does not do so at its start. */
await service.migrate()
