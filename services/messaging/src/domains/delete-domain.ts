import { AppError, type HttpBody, json } from '@rollcall/contract'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import type { Context } from '../context.ts'
import { chosenProvider, providerOf } from '../provider/provider-of.ts'
import { type Domain, publicDomain } from './domain.model.ts'

/** Deletes a domain without senders, then removes it at the provider. Returns the deleted domain. */
export async function deleteDomain(context: Context, id: string, { caller, logger }: Call): Promise<HttpBody> {
  const { domains } = context.collections.of(caller.organizationId)
  const deleted = await context.store.transaction(async tx => {
    const domain = await domains.findOneAndDelete({ _id: id, senders: 0 }, { tx })
    if (!domain) {
      await domains.get(id, 'domain', { tx })
      throw new AppError('domain.in_use')
    }
    const data = { domain: publicDomain(domain), actor: actorOf(caller) }
    await addEvents(tx, [event('email.domain.deleted', domain, data)])
    return domain
  })
  await forget(context, caller.organizationId, deleted).catch(err =>
    // A leftover there is harmless: adding the domain again reuses it.
    logger.warn({ err, domain: deleted.domain }, 'domain not removed at the mail provider'),
  )
  return json(publicDomain(deleted))
}

async function forget(context: Context, organizationId: string, { provider, domain }: Domain): Promise<void> {
  const choice = await chosenProvider(context, organizationId)
  const isShared = await context.collections.unscoped.domains.exists({ domain, provider }).exec()
  if (choice?.kind !== provider || isShared) return
  await (await providerOf(context, organizationId)).removeDomain(domain)
}
