import { service } from './service.ts'

/** Prepares the database, for deployments where the service does not do this at startup. */
await service.migrate()
