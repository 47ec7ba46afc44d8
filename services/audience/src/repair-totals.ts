import { organizationsWith } from '@rollcall/store'
import { contactPositions } from './contacts/contact.model.ts'
import type { Data } from './context.ts'
import { memberPositions } from './lists/membership.model.ts'
import { listIdsOf } from './lists/repair-counts.ts'

/** A corrected total: of all contacts of an organization, or of the members of a list. */
export type TotalRepair = { organization: string; list?: string; was: number; is: number }

/**
 * Recounts the contacts of every organization and the members of every list, and repairs their positions. Safe while others
 * write. Returns the corrections.
 */
export async function repairTotals(data: Data): Promise<TotalRepair[]> {
  const repairs: TotalRepair[] = []
  const { contacts } = data.collections.unscoped
  const counted = await contacts.distinct('organization')
  const stored = await organizationsWith(data.store, 'contacts') // includes those without contacts
  for (const organizationId of new Set([...counted, ...stored].map(String))) {
    const { contacts } = data.collections.of(organizationId)
    const repair = await contactPositions(data, organizationId).repair(contacts)
    if (repair) repairs.push({ organization: organizationId, ...repair })
  }
  for (const { _id, organization } of await listIdsOf(data)) {
    const organizationId = String(organization)
    const { memberships } = data.collections.of(organizationId)
    const repair = await memberPositions(data, organization, _id).repair(memberships, { list: _id })
    if (repair) repairs.push({ organization: organizationId, list: String(_id), ...repair })
  }
  return repairs
}
