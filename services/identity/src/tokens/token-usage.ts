import { AppError } from '@rollcall/contract'
import type {
  RecordUsageRequestRefusedToken as RefusedToken,
  RecordUsageRequestUsedToken as UsedToken,
} from '@rollcall/protos/gen/identity-v1.ts'
import type { ListOfRequest } from '@rollcall/protos/gen/types.ts'
import type { Caller, Handlers } from '@rollcall/rpc'
import { isDuplicate, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { publishRefused } from './report-refused.ts'
import { tokenUseFields } from './token-use.model.ts'

/** Handler for usage reports of gateways; counts of several replicas add up. */
export const tokenUsage = (context: Context): Handlers<'rollcall.identity.v1.TokenUsage'> => ({
  async recordUsage({ tokens, refused }, { caller }) {
    if (caller.kind !== 'service') throw new AppError('caller.service_required')
    for (const [organizationId, used] of Map.groupBy(tokens, token => token.organizationId))
      await recordWithin(context, organizationId, used)
    await Promise.all(refused.map(use => publishRefusedUse(context, use)))
    return {}
  },
})

function publishRefusedUse(
  context: Context,
  { organizationId, tokenId, refusedAt, ip, requestId }: RefusedToken,
): Promise<void> {
  const refusal = { reason: 'token.address_refused', at: new Date(refusedAt), ip, requestId }
  return publishRefused(context, organizationId, { _id: tokenId }, refusal)
}

/** Lists the permissions that a token used, most recent first. */
export async function listTokenUsage({ collections }: Context, { id, list }: ListOfRequest, caller: Caller) {
  const { tokens, tokenUses } = collections.of(caller.organizationId)
  const token = await tokens.get(id, 'token')
  return runList({
    scope: tokenUses,
    base: { token: token._id },
    query: list ?? {},
    fields: tokenUseFields,
    defaultSort: { lastAt: -1 },
  })
}

/** Two concurrent reports may insert the same record: the second one is retried and updates it. */
async function recordWithin(context: Context, organizationId: string, used: UsedToken[]): Promise<void> {
  const record = () => context.store.transaction(tx => recordReport(context, organizationId, used, tx))
  await record().catch(error => {
    if (isDuplicate(error)) return record()
    throw error
  })
}

async function recordReport(
  { collections }: Context,
  organizationId: string,
  used: UsedToken[],
  tx: ClientSession,
): Promise<void> {
  const { tokens, tokenUses } = collections.of(organizationId)
  const stored = await tokens.find({ _id: { $in: used.map(({ tokenId }) => tokenId) } }, { tx })
  const reports = new Map(used.map(token => [token.tokenId, token]))
  const known = stored.map(token => ({ token, report: reports.get(String(token._id))! }))

  const moments = known
    .filter(({ token, report }) => (token.lastUsedAt?.getTime() ?? 0) <= report.lastUsedAt)
    .map(({ token: { _id, updatedAt }, report }) => ({
      // Use does not count as an update.
      updateOne: {
        filter: { _id },
        update: { $set: { lastUsedAt: new Date(report.lastUsedAt), lastUsedIp: report.lastUsedIp, updatedAt } },
      },
    }))
  const counts = known.flatMap(({ token, report }) =>
    report.uses.map(({ resource, action, count, lastAt }) => ({
      updateOne: {
        filter: { token: token._id, resource, action },
        update: { $inc: { count }, $max: { lastAt: new Date(lastAt) } },
        upsert: true,
      },
    })),
  )
  await tokens.bulkWrite(moments, { tx })
  await tokenUses.bulkWrite(counts, { tx })
}
