import { service } from './service.ts'

/** Prepares the database, for deployments where the service does not do so at its start. */
await service.migrate()
