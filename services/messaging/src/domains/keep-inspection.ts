import type { Context } from '../context.ts'
import type { Domain } from './domain.model.ts'
import type { Inspection } from './inspect.ts'

/**
 * Stores the result of a DNS check, unless the domain's records have changed since. Returns whether it was stored.
 */
export async function keepInspection(
  context: Context,
  { _id, organization, revision }: Domain,
  inspection: Inspection,
  more: Partial<Pick<Domain, 'failures' | 'failingSince'>> = {},
): Promise<boolean> {
  const { domains } = context.collections.of(organization)
  const { matchedCount } = await domains.updateOne({ _id, revision }, { $set: { ...inspection, ...more } })
  return matchedCount > 0
}
