import { AppError, isObjectId } from '@rollcall/contract'
import type { ChangePreferencesRequest, GetPreferencesResponse } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, originOf } from '@rollcall/rpc'
import { groupWrites, objectId, untilReleased, type WriteGroup } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import { type ChangeRequest, changeAll } from '../contacts/change-contact.ts'
import type { Adding, Data } from '../context.ts'
import type { AudienceList } from '../lists/list.model.ts'
import { listQueue } from '../lists/list-counts.ts'
import { addMembers, type Candidate, candidateFields, removeMembers } from '../lists/members.ts'
import { forgetOptOuts } from '../people/erased-addresses.ts'
import { getPreferences } from './get-preferences.ts'

/** The person who opened the link of a mail. The link does not prove an account, so this is not a user. */
export const RECIPIENT = { kind: 'system', id: null, name: 'recipient' } as const

type ChangePreferences = (request: ChangePreferencesRequest, call: Call) => Promise<GetPreferencesResponse>

/**
 * Returns the function that does what a recipient has chosen. Opting in or out and each list are a transaction of their
 * own: each is idempotent, so a caller that got no answer repeats the request.
 */
export function preferenceChanger(data: Adding): ChangePreferences {
  const change = groupWrites(data.store, changeOptOuts(data))
  const setUnsubscribed = async ({ contactId, how, emailId, unsubscribed }: ChangePreferencesRequest, call: Call) => {
    const { organizationId } = call.caller
    const request = {
      organizationId,
      id: String(objectId(contactId)),
      type: 'contact.updated' as const,
      actor: RECIPIENT,
      origin: { ...originOf(call), actor: RECIPIENT },
      patch: { unsubscribed: unsubscribed! },
      optOut: { how, ...(emailId && { emailId }) },
    }
    await change(`changes of ${organizationId}`, request, call)
    if (unsubscribed) await untilReleased(data.collections.of(organizationId).holds, [request.id])
  }
  return async (request, call) => {
    const { contactId, leave, rejoin, unsubscribed } = request
    const tenant = data.collections.of(call.caller.organizationId)
    if (!isObjectId(contactId)) return {}
    try {
      if (unsubscribed !== undefined) await setUnsubscribed(request, call)
      for (const id of leave.filter(isObjectId)) await inList(data, tenant, id, contactId, leaveList)
      for (const id of rejoin.filter(isObjectId)) await inList(data, tenant, id, contactId, rejoinList)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'contact.not_found')) throw error
    }
    return getPreferences(tenant, contactId)
  }
}

/** Changes contacts. Forgets the erased opt-outs of those who subscribe again. */
function changeOptOuts(data: Adding): WriteGroup<ChangeRequest, unknown> {
  const changeSome = changeAll(data)
  return async (tx, requests, group) => {
    const { organizationId } = requests[0]!
    const returning = requests.filter(({ patch }) => 'unsubscribed' in patch && patch.unsubscribed === false)
    if (returning.length > 0) {
      const { contacts } = data.collections.of(organizationId)
      const found = await contacts.find({ _id: { $in: returning.map(({ id }) => id) } }, { tx })
      const emailKeys = found.map(({ emailKey }) => emailKey)
      await forgetOptOuts(data, organizationId, emailKeys, tx)
    }
    return changeSome(tx, requests, group)
  }
}

type ListChange = (data: Data, tx: ClientSession, contact: Candidate, list: AudienceList) => Promise<unknown>

/** Changes the membership of a contact in a list, if both exist. */
async function inList(data: Data, tenant: Tenant, listId: string, contactId: string, change: ListChange) {
  const work = async (tx: ClientSession) => {
    const list = await tenant.lists.findOne({ _id: listId }, { tx })
    const contact = await tenant.contacts.findOne({ _id: contactId }, { tx, projection: candidateFields })
    if (list && contact) await change(data, tx, contact, list)
  }
  await data.store.transaction(work, { queue: listQueue(listId) })
}

const leaveList: ListChange = (data, tx, contact, list) =>
  removeMembers(data, tx, [contact], { list, actor: RECIPIENT, at: new Date() })

/** Undoes leaving a list. The holder of a link cannot join lists that the contact was never on. */
const rejoinList: ListChange = async (data, tx, contact, list) => {
  const { history } = data.collections.of(list.organization)
  if (list.archived || !(await hasLeft(history, contact._id, list._id, tx))) return
  await addMembers(data, tx, [contact], { list, actor: RECIPIENT, source: 'form', at: new Date() })
}

async function hasLeft(history: Tenant['history'], person: Types.ObjectId, list: Types.ObjectId, tx: ClientSession) {
  const left = { type: 'contact.removed_from_list', 'data.list._id': list, 'actor.name': RECIPIENT.name }
  return (await history.findOne({ person, ...left }, { tx })) !== null
}
