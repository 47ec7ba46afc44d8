import { AppError, emailKeyOf } from '@rollcall/contract'
import { formOf } from '@rollcall/pages'
import type { ChangePreferencesRequest, Preferences } from '@rollcall/protos/gen/audience-v1.ts'
import type { PageRequest, PageResponse } from '@rollcall/protos/gen/types.ts'
import { ERASED } from '@rollcall/service'
import { untilReleased } from '@rollcall/store'
import type { Context } from '../context.ts'
import { liftSuppression, ofAddress, retryDuplicate, suppress, suppressionsOf } from '../suppressions/suppress.ts'
import type { RecipientRef } from './mail-links.ts'
import { type Done, preferencePage, testPage } from './preference-page.ts'

/** The person who opened the link of a mail. */
const RECIPIENT = { kind: 'system', id: null, name: 'recipient' } as const

/** What a submitted form asks for. */
type Choice = Partial<Pick<ChangePreferencesRequest, 'unsubscribed' | 'leave' | 'rejoin'>> & {
  how: ChangePreferencesRequest['how']
  done: Done
}

/** A recipient of a mail: the link's, with a contact. */
type Recipient = RecipientRef & { contactId: string }

/** Shows the preferences of a link's recipient. Changes nothing. */
export async function showPreferences(context: Context, request: PageRequest): Promise<PageResponse> {
  const recipient = recipientOf(context, request)
  if (recipient.contactId === null) return testPage(request.language)
  const known = { ...recipient, contactId: recipient.contactId }
  const preferences = (await context.getPreferences(known)) ?? (await withoutContact(context, known))
  return preferencePage(request.language, preferences)
}

/** Does what a form asks for, and shows the preferences afterwards, with a way to undo it. */
export async function choosePreferences(context: Context, request: PageRequest): Promise<PageResponse> {
  const recipient = recipientOf(context, request)
  const form = await formOf(request)
  if (!form) throw new AppError('request.malformed_form')
  if (recipient.contactId === null) return testPage(request.language)
  const known = { ...recipient, contactId: recipient.contactId }
  const before = await context.getPreferences(known)
  const choice = choiceOf(form, before)
  const after = before && (await apply(context, known, choice))
  if (after) return preferencePage(request.language, after, choice.done)
  await applyToAddress(context, known, choice)
  const state = await withoutContact(context, known)
  const isDone = choice.done.kind !== 'resubscribed' || !state.unsubscribed
  return preferencePage(request.language, state, isDone ? choice.done : undefined)
}

/** @throws {AppError} page.not_found */
function recipientOf({ links }: Context, { key }: PageRequest): RecipientRef {
  const recipient = links.readUnsubscribe(key)
  if (!recipient) throw new AppError('page.not_found')
  return recipient
}

/** @throws {AppError} request.malformed_form */
function choiceOf(form: URLSearchParams, before: Preferences | undefined): Choice {
  if (form.get('List-Unsubscribe') === 'One-Click')
    return { unsubscribed: true, how: 'one_click', done: { kind: 'unsubscribed' } }
  const named = form.getAll('list')
  switch (form.get('action')) {
    case 'unsubscribe':
      return { unsubscribed: true, how: 'link', done: { kind: 'unsubscribed' } }
    case 'resubscribe':
      return { unsubscribed: false, how: 'link', done: { kind: 'resubscribed' } }
    case 'save': {
      const cleared = form.getAll('shown').filter(id => !named.includes(id))
      const left = (before?.lists ?? []).filter(({ id }) => cleared.includes(id))
      return { leave: left.map(({ id }) => id), how: 'preference', done: { kind: 'saved', left } }
    }
    case 'rejoin':
      return { rejoin: named, how: 'preference', done: { kind: 'saved', left: [] } }
    default:
      throw new AppError('request.malformed_form')
  }
}

async function apply(
  context: Context,
  { organizationId, contactId, messageId }: Recipient,
  { how, unsubscribed, leave = [], rejoin = [] }: Choice,
): Promise<Preferences | undefined> {
  const change = {
    contactId,
    how,
    emailId: messageId,
    leave,
    rejoin,
    ...(unsubscribed !== undefined && { unsubscribed }),
  }
  const after = await context.changePreferences(organizationId, change)
  if (unsubscribed && after) await countUnsubscribed(context, organizationId, messageId)
  if (unsubscribed === false && after) {
    // A complaint can be taken back by who made it; an address that bounced stays unreachable.
    const complaint = { ...ofAddress(context, after.email), kind: 'complaint' }
    await liftSuppression(context, organizationId, complaint, RECIPIENT)
  }
  return after
}

/** Counts in the campaign that its recipient unsubscribed, once. */
async function countUnsubscribed(
  { store, collections }: Context,
  organizationId: string,
  messageId: string,
): Promise<void> {
  const { mails, mailings } = collections.of(organizationId)
  await store.transaction(async tx => {
    const first = { _id: messageId, unsubscribedAt: null, campaign: { $ne: null } }
    const left = { $set: { unsubscribedAt: new Date() } }
    const mail = await mails.findOneAndUpdate(first, left, { tx, timestamps: false })
    if (mail?.campaign) await mailings.updateOne({ _id: mail.campaign }, { $inc: { 'counts.unsubscribed': 1 } }, { tx })
  })
}

/** Returns the preferences of an address whose contact is gone: it counts as unsubscribed if it is suppressed. */
async function withoutContact(context: Context, { organizationId, messageId }: Recipient): Promise<Preferences> {
  const mail = await context.collections.of(organizationId).mails.findOne({ _id: messageId })
  // Neither contact nor address: nothing will be sent.
  if (!mail || mail.to === ERASED) return { email: '', unsubscribed: true, lists: [] }
  const isSuppressed = (await suppressionsOf(context, organizationId, [mail.to])).size > 0
  return { email: mail.to, unsubscribed: isSuppressed, lists: [] }
}

/** Suppresses the address of a contact that is gone, since it may be imported again, or lifts that. */
async function applyToAddress(
  context: Context,
  { organizationId, messageId: message }: Recipient,
  { unsubscribed }: Choice,
): Promise<void> {
  const { holds, mails, suppressions } = context.collections.of(organizationId)
  const mail = unsubscribed === undefined ? null : await mails.findOne({ _id: message })
  if (!mail || mail.to === ERASED) return
  const own = { emailKey: emailKeyOf(mail.to), kind: 'manual', message } as const
  if (!unsubscribed) return void (await liftSuppression(context, organizationId, own, RECIPIENT))
  const cause = { email: mail.to, kind: own.kind, reason: 'unsubscribed by the link of a mail', message }
  await retryDuplicate(() =>
    context.store.transaction(async tx => {
      const known = await suppressions.findOne(ofAddress(context, mail.to), { tx })
      if (!known) await suppress(context, organizationId, { ...cause, at: new Date() }, tx)
    }),
  )
  await untilReleased(holds, [own.emailKey])
}
