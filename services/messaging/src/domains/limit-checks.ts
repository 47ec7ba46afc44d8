import { AppError } from '@rollcall/contract'
import type { Context } from '../context.ts'
import { countUse } from '../usage.ts'
import type { Domain } from './domain.model.ts'

/**
 * Limits the rate of DNS checks per domain, because they query servers chosen by its owner. Counts by name, so that
 * deleting and adding a domain does not reset the limit.
 * @throws {AppError} quota.too_many_pending
 */
export async function limitChecks(
  { collections, config }: Pick<Context, 'collections' | 'config'>,
  { organization, domain }: Domain,
): Promise<void> {
  const seconds = config.DNS_CHECK_SECONDS
  if (seconds === 0) return
  const key = `DNS check of ${organization} ${domain}`
  const retryAfterSeconds = await countUse(collections.unscoped.usageWindows, key, { limit: 1, seconds })
  if (retryAfterSeconds === undefined) return
  throw new AppError('quota.too_many_pending', {
    limit: 1,
    what: `DNS check per domain in ${seconds} seconds`,
    retryAfterSeconds,
  })
}
