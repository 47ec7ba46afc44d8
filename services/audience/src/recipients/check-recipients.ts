import { AppError, emailKeyOf, isObjectId } from '@rollcall/contract'
import type {
  CheckedRecipient,
  CheckRecipientsRequest,
  CheckRecipientsResponse,
  Recipient,
} from '@rollcall/protos/gen/audience-v1.ts'
import { placeHold } from '@rollcall/store'
import type { Tenant } from '../collections.ts'
import type { Contact } from '../contacts/contact.model.ts'

const MAX_RECIPIENTS = 1000
const MAX_HOLD_MS = 30_000

/**
 * Returns for each recipient whether mail may go to it now. Holds contacts and addresses first, if it is asked to. An
 * address is held as such, so that a contact that gets it after the check is held, too.
 */
export async function checkRecipients(
  { contacts, holds }: Pick<Tenant, 'contacts' | 'holds'>,
  { recipients, isCampaign, holdMs }: CheckRecipientsRequest,
): Promise<CheckRecipientsResponse> {
  if (recipients.length > MAX_RECIPIENTS)
    throw new AppError('request.invalid_field', { path: 'recipients', reason: `at most ${MAX_RECIPIENTS} items` })
  const ids = recipients.flatMap(({ contactId }) =>
    contactId && isObjectId(contactId) ? [contactId.toLowerCase()] : [],
  )
  const keys = recipients.flatMap(({ contactId, email }) => (contactId || !email ? [] : [emailKeyOf(email)]))
  const holdId = holdMs ? await placeHold(holds, [...ids, ...keys], Math.min(holdMs, MAX_HOLD_MS)) : undefined
  const [byId, byKey] = await Promise.all([
    ids.length > 0 ? contacts.find({ _id: { $in: ids } }) : [],
    keys.length > 0 ? contacts.find({ emailKey: { $in: keys } }) : [],
  ])
  const idIndex = new Map(byId.map(contact => [String(contact._id), contact]))
  const keyIndex = new Map(byKey.map(contact => [contact.emailKey, contact]))
  const contactOf = ({ contactId, email }: Recipient) =>
    contactId ? idIndex.get(contactId.toLowerCase()) : keyIndex.get(emailKeyOf(email ?? ''))
  const checked = recipients.map(recipient => check(recipient, contactOf(recipient), isCampaign))
  return { recipients: checked, ...(holdId !== undefined && { holdId }) }
}

function check(
  { contactId, email = '' }: Recipient,
  contact: Contact | undefined,
  isCampaign: boolean,
): CheckedRecipient {
  if (!contact) return { outcome: contactId ? 'deleted' : 'unknown', email, variables: { email } }
  const { name, attributes, tags } = contact
  return {
    outcome: outcomeOf(contact, isCampaign),
    contactId: String(contact._id),
    email: contact.email,
    variables: { email: contact.email, name, attributes, tags },
  }
}

function outcomeOf({ blocked, unsubscribed }: Contact, isCampaign: boolean): CheckedRecipient['outcome'] {
  if (blocked) return 'blocked'
  return isCampaign && unsubscribed ? 'unsubscribed' : 'ok'
}
