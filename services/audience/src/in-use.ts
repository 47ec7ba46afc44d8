import { AppError } from '@rollcall/contract'
import { type Call, serviceCaller } from '@rollcall/rpc'
import type { Context } from './context.ts'

/**
 * Checks that no campaign needs a list or a segment any more. While campaigns cannot be asked, nothing is deleted.
 * @throws {AppError} list.in_use, segment.in_use, service.unavailable
 */
export async function requireUnused(
  { uses }: Pick<Context, 'uses'>,
  kind: 'list' | 'segment',
  id: string,
  { caller, deadline }: Call,
): Promise<void> {
  const asked = kind === 'list' ? { listId: id } : { segmentId: id }
  const as = { caller: serviceCaller('audience', caller.organizationId), deadline }
  const { campaignName: campaign } = await uses.findUse(asked, as)
  if (campaign !== undefined) throw new AppError(`${kind}.in_use`, { campaign })
}
