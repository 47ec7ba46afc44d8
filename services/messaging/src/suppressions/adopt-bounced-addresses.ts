import type { Collections } from '../collections.ts'

const BATCH_SIZE = 500

/**
 * Turns the addresses that bounced under earlier versions into suppressions. Idempotent: an address that is adopted is
 * removed, and one that is suppressed already is not changed.
 */
export async function adoptBouncedAddresses({ unscoped, of }: Collections): Promise<void> {
  for (;;) {
    const batch = await unscoped.bouncedAddresses.find({}).limit(BATCH_SIZE).lean()
    if (batch.length === 0) return
    for (const { organization, emailKey, error, createdAt } of batch) {
      const { suppressions, bouncedAddresses } = of(organization)
      const first = { email: emailKey, kind: 'hard_bounce', reason: error, message: null, count: 1 }
      const times = { firstAt: createdAt, lastAt: createdAt }
      await suppressions.updateOne({ emailKey }, { $setOnInsert: { ...first, ...times } }, { upsert: true })
      await bouncedAddresses.deleteOne({ emailKey })
    }
  }
}
