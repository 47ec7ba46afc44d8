import type { Data } from '../context.ts'
import type { AudienceList } from './list.model.ts'
import { memberPositions } from './membership.model.ts'

/** Corrected counts of a list: members and active members. */
export type Repair = { list: string; was: [number, number]; is: [number, number] }

/** How long the repair of a list retries after conflicts with writers. */
const REPAIR_MS = 300_000
/** Time limit of the count of a list. MongoDB ends a transaction after a minute. */
const COUNT_MS = 50_000

/** Recounts the members of every list, by the positions that `repairTotals` has repaired. Safe while others write. */
export async function repairListCounts(data: Data): Promise<Repair[]> {
  const repairs: Repair[] = []
  for (const list of await listIdsOf(data)) {
    const repair = await repairCounts(data, list)
    if (repair) repairs.push(repair)
  }
  return repairs
}

/** Returns the ids of all lists. Read at once: a cursor would expire while a large list is counted. */
export function listIdsOf({ collections }: Data): Promise<Pick<AudienceList, '_id' | 'organization'>[]> {
  return collections.unscoped.lists.find({}, { organization: 1 }).lean<AudienceList[]>().exec()
}

/** Reads one snapshot: a concurrent change of the counts conflicts with this write, and one transaction is retried. */
function repairCounts(data: Data, { _id, organization }: Pick<AudienceList, '_id' | 'organization'>) {
  const { lists, contacts } = data.collections.of(organization)
  const inactive = { lists: _id, $or: [{ blocked: true }, { unsubscribed: true }] }
  return data.store.transaction(
    async (tx): Promise<Repair | undefined> => {
      const list = await lists.findOne({ _id }, { tx })
      if (!list) return undefined
      const { total: memberCount } = await memberPositions(data, organization, _id).read(tx)
      const activeCount = memberCount - (await contacts.count(inactive, { tx, maxTimeMs: COUNT_MS }))
      if (memberCount === list.memberCount && activeCount === list.activeCount) return undefined
      await lists.updateOne({ _id }, { $set: { memberCount, activeCount } }, { tx, timestamps: false })
      return { list: String(_id), was: [list.memberCount, list.activeCount], is: [memberCount, activeCount] }
    },
    { timeoutMs: REPAIR_MS },
  )
}
