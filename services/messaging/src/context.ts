import type { Call } from '@rollcall/rpc'
import type { Logger } from '@rollcall/runtime'
import { type Scope, type Store, scoped } from '@rollcall/store'
import type { Model } from 'mongoose'
import type { Config } from './config.ts'
import { type Domain, domainSchema } from './domains/domain.model.ts'
import { createSecrets, type Secrets } from './secrets.ts'

/** The collections of messaging. */
export type Models = {
  domains: Model<Domain>
}

/** The collections as one organization sees them. */
export type Collections = {
  domains: Scope<Domain>
}

/** What handlers and jobs work with. */
export type Context = {
  config: Config
  store: Store
  models: Models
  logger: Logger
  secrets: Secrets
  /** The collections as the caller's organization sees them. */
  of(caller: Pick<Call['caller'], 'organizationId'>): Collections
}

/** Makes the context of the service. */
export function createContext(config: Config, store: Store, logger: Logger): Context {
  const models: Models = {
    domains: store.model('Domain', domainSchema),
  }
  return {
    config,
    store,
    models,
    logger,
    secrets: createSecrets(config.SECRET_KEYS),
    of: ({ organizationId }) => ({
      domains: scoped(models.domains, organizationId),
    }),
  }
}
