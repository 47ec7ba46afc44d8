import type { CountRecipientsResponse, Selection } from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { countRecords, type Filter } from '@rollcall/store'
import { contactFields } from '../contacts/contact.model.ts'
import { contactList } from '../contacts/list-contacts.ts'
import type { Context } from '../context.ts'
import { filterOfSelection } from './selection.ts'

const UNDELIVERABLE = { emailStatus: { $in: ['bounced', 'complained'] } }
const WITHOUT_EXCLUSIONS = { excludeLists: [] }

/**
 * Counts the contacts of a selection by the first reason for which a campaign does not reach them. Each count costs what
 * the first page of a list with that filter costs.
 */
export async function countRecipients(
  context: Context,
  selection: Selection,
  call: Call,
): Promise<CountRecipientsResponse> {
  const tenant = context.collections.of(call.caller.organizationId)
  const selected = await filterOfSelection(tenant, selection)
  const named =
    selection.excludeLists.length > 0
      ? await filterOfSelection(tenant, { ...selection, ...WITHOUT_EXCLUSIONS })
      : undefined
  const list = contactList(context, call, contactFields(new Map()))
  const count = (filter: Filter, condition?: Filter) =>
    countRecords({ ...list, where: condition ? { $and: [filter, condition] } : filter })
  const [all, blocked, unsubscribed, address, before] = await Promise.all([
    count(selected),
    count(selected, { blocked: true }),
    count(selected, { blocked: false, unsubscribed: true }),
    count(selected, { blocked: false, unsubscribed: false, ...UNDELIVERABLE }),
    named && count(named),
  ])
  const excluded = before === undefined ? 0 : before - all
  return { reachable: all - blocked - unsubscribed - address, excluded, blocked, unsubscribed, address }
}
