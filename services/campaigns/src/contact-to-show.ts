import { AppError } from '@rollcall/contract'
import type { CallContext } from '@rollcall/rpc'
import { sampleContact } from '@rollcall/templates'
import type { Context } from './context.ts'

/**
 * Returns what templates show of a contact; without an id, of the oldest contact of the audience, or a sample.
 * @throws {AppError} contact.not_found
 */
export async function contactToShow(
  { recipients }: Context,
  contactId: string | undefined,
  call: CallContext,
): Promise<unknown> {
  if (contactId === undefined) {
    const oldest = await recipients.takeRecipients({ reachableOnly: false, afterPosition: 0, limit: 1 }, call)
    const [contact] = oldest.recipients
    return contact ? ((await variablesOf(recipients, contact, call)) ?? sampleContact()) : sampleContact()
  }
  const variables = await variablesOf(recipients, { contactId }, call)
  if (!variables) throw new AppError('contact.not_found')
  return variables
}

async function variablesOf(
  recipients: Context['recipients'],
  contact: { contactId?: string },
  call: CallContext,
): Promise<unknown> {
  const checked = await recipients.checkRecipients({ recipients: [contact], isCampaign: false }, call)
  const [answer] = checked.recipients
  return answer && answer.outcome !== 'deleted' && answer.outcome !== 'unknown' ? answer.variables : undefined
}
