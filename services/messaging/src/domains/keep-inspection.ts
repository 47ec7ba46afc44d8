import type { Context } from '../context.ts'
import type { Domain } from './domain.model.ts'
import type { Inspection } from './inspect.ts'

/**
 * Keeps what a look at DNS found, unless the domain has other records by now than those that were looked for. Answers
 * whether it was kept.
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
