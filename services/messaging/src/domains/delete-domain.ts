import { AppError, type HttpBody, json } from '@rollcall/contract'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { chosenProvider, providerOf } from '../provider/provider-of.ts'
import { type Domain, publicDomain } from './domain.model.ts'

/** Deletes a domain without senders, then removes it at the provider. Returns the deleted domain. */
export async function deleteDomain(context: Context, id: string, { caller, logger }: Call): Promise<HttpBody> {
  const { domains } = context.collections.of(caller.organizationId)
  const deleted = await domains.findOneAndDelete({ _id: id, senders: 0 })
  if (!deleted) {
    await domains.get(id, 'domain')
    throw new AppError('domain.in_use')
  }
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
