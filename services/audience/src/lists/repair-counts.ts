import type { Data } from '../context.ts'
import type { AudienceList } from './list.model.ts'
import { isActive } from './list-counts.ts'

/** Corrected counts of a list: members and active members. */
export type Repair = { list: string; was: [number, number]; is: [number, number] }

const BATCH = 1000

/** Recounts the members of every list and returns the corrections. Safe while others write. */
export async function repairListCounts(data: Data): Promise<Repair[]> {
  const repairs: Repair[] = []
  for await (const { _id, organization } of data.collections.unscoped.lists
    .find({}, { organization: 1 })
    .lean<AudienceList[]>()
    .cursor()) {
    const repair = await repairCounts(data, { _id, organization })
    if (repair) repairs.push(repair)
  }
  return repairs
}

/** Reads one snapshot: a concurrent change of the counts conflicts with this write, and one transaction is retried. */
function repairCounts(data: Data, { _id, organization }: Pick<AudienceList, '_id' | 'organization'>) {
  const { lists, memberships, contacts } = data.collections.of(organization)
  return data.store.transaction(
    async (tx): Promise<Repair | undefined> => {
      const list = await lists.findOne({ _id }, { tx })
      if (!list) return undefined
      let [memberCount, activeCount, after] = [0, 0, 0]
      for (;;) {
        const page = { tx, sort: { position: 1 as const }, limit: BATCH }
        const members = await memberships.find({ list: _id, position: { $gt: after } }, page)
        const ids = members.map(({ contact }) => contact)
        const found = await contacts.find({ _id: { $in: ids } }, { tx, projection: { blocked: 1, unsubscribed: 1 } })
        memberCount += members.length
        activeCount += found.filter(isActive).length
        if (members.length < BATCH) break
        after = members.at(-1)!.position
      }
      if (memberCount === list.memberCount && activeCount === list.activeCount) return undefined
      await lists.updateOne({ _id }, { $set: { memberCount, activeCount } }, { tx, timestamps: false })
      return { list: String(_id), was: [list.memberCount, list.activeCount], is: [memberCount, activeCount] }
    },
    { timeoutMs: 300_000 },
  )
}
