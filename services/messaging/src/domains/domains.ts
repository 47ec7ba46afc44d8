import { json } from '@rollcall/contract'
import { actorOf, type Handlers } from '@rollcall/rpc'
import { addEvents, event, runList } from '@rollcall/store'
import type { Context } from '../context.ts'
import { createDomain } from './create-domain.ts'
import { deleteDomain } from './delete-domain.ts'
import { domainFields, publicDomain } from './domain.model.ts'
import { inspect } from './inspect.ts'
import { keepInspection } from './keep-inspection.ts'
import { limitChecks } from './limit-checks.ts'
import { rotateDkim } from './rotate-dkim.ts'
import { verifyDomain } from './verify-domain.ts'

/** Handlers of sending domains. */
export const domains = (context: Context): Handlers<'rollcall.messaging.v1.Domains'> => ({
  listDomains: ({ list }, { caller }) =>
    runList({
      scope: context.collections.of(caller.organizationId).domains,
      query: list ?? {},
      fields: domainFields,
      present: publicDomain,
    }),

  getDomain: async ({ id }, { caller }) =>
    json(publicDomain(await context.collections.of(caller.organizationId).domains.get(id, 'domain'))),

  createDomain: (request, call) => createDomain(context, request, call),
  verifyDomain: ({ id }, call) => verifyDomain(context, id, call),
  rotateDkim: ({ id }, call) => rotateDkim(context, id, call),
  deleteDomain: ({ id }, call) => deleteDomain(context, id, call),

  checkDomain: async ({ id }, call) => {
    const { domains } = context.collections.of(call.caller.organizationId)
    const domain = await domains.get(id, 'domain')
    await limitChecks(context, domain)
    await keepInspection(context, domain, await inspect(context, domain, call))
    const checked = publicDomain(await domains.get(id, 'domain'))
    const data = { domain: checked, actor: actorOf(call.caller) }
    await context.store.transaction(tx => addEvents(tx, [event('email.domain.checked', domain, data)]))
    return json(checked)
  },
})
