import { AppError, type Handlers, json } from '@rollcall/rpc'
import { runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { domainFields, publicDomain } from './domain.model.ts'

/** The use cases of sending domains. */
export const domains = (context: Context): Handlers<'rollcall.messaging.v1.Domains'> => ({
  listDomains: ({ list }, { caller }) =>
    runList({ scope: context.of(caller).domains, query: list ?? {}, fields: domainFields, present: publicDomain }),

  getDomain: async ({ id }, { caller }) => {
    const domain = await context.of(caller).domains.findOne({ _id: id })
    if (!domain) throw new AppError('not_found', { what: 'domain' })
    return json(publicDomain(domain))
  },
})
