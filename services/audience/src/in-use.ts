import { AppError } from '@rollcall/contract'
import { type Call, serviceCaller } from '@rollcall/rpc'
import type { Tenant } from './collections.ts'
import type { Context } from './context.ts'

/**
 * Checks that no campaign needs a list or a segment any more: a list neither by itself nor by a segment whose filter names
 * it. While campaigns cannot be asked, nothing is deleted.
 * @throws {AppError} list.in_use, segment.in_use, service.unavailable
 */
export async function requireUnused(
  { uses, collections }: Pick<Context, 'uses' | 'collections'>,
  kind: 'list' | 'segment',
  id: string,
  { caller, deadline }: Call,
): Promise<void> {
  const tenant = collections.of(caller.organizationId)
  const asked =
    kind === 'list'
      ? [{ listId: id }, ...(await segmentsNaming(tenant, id)).map(segmentId => ({ segmentId }))]
      : [{ segmentId: id }]
  const as = { caller: serviceCaller('audience', caller.organizationId), deadline }
  for (const use of asked) {
    const { campaignName: campaign } = await uses.findUse(use, as)
    if (campaign !== undefined) throw new AppError(`${kind}.in_use`, { campaign })
  }
}

/** Returns the ids of the segments whose filter names a list. */
async function segmentsNaming({ segments }: Tenant, listId: string): Promise<string[]> {
  const found = await segments.find({ filter: { $regex: listId, $options: 'i' } }, { projection: { _id: 1 } })
  return found.map(({ _id }) => String(_id))
}
