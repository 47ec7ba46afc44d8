import { AppError } from '@rollcall/contract'
import type { PutMailingRequest, SendTestRequest, Mailing as Shown } from '@rollcall/protos/gen/messaging-v1.ts'
import type { Call, Handlers } from '@rollcall/rpc'
import { addEvents } from '@rollcall/store'
import { compile } from '@rollcall/templates'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { countMail } from '../mail/mail-quota.ts'
import { domainOf } from '../senders/sender.model.ts'
import { actingFor, usableSender } from '../senders/sender-use.ts'
import { retryDuplicate } from '../suppressions/suppress.ts'
import type { Mailing } from './mailing.model.ts'
import { queueRecipients } from './queue-recipients.ts'
import { clicksOf, exportRecipients, listRecipients, seriesOf } from './recipients.ts'
import { retryFailed } from './retry-failed.ts'

const SENDER_PATH = 'sender'

/** Handlers of the sending side of campaigns. */
export const mailings = (context: Context): Handlers<'rollcall.messaging.v1.Mailings'> => ({
  async putMailing(request, { caller }) {
    await retryDuplicate(() => putMailing(context, request, caller))
    return {}
  },

  queueRecipients: (request, { caller }) => queueRecipients(context, request, caller.organizationId),

  async closeMailing({ id }, { caller }) {
    const { mailings } = context.collections.of(caller.organizationId)
    await mailings.updateOne({ _id: id }, { $set: { isClosed: true } })
    return shown(await mailings.get(id, 'mailing'))
  },

  setMailingState: ({ id, state }, { caller }) =>
    setState(context, caller.organizationId, id, state as 'sending' | 'paused' | 'cancelled'),

  async retryFailed({ id }, { caller }) {
    return { count: await retryFailed(context, caller.organizationId, id) }
  },

  getMailing: async ({ id }, { caller }) =>
    shown(await context.collections.of(caller.organizationId).mailings.get(id, 'mailing')),

  listRecipients: (request, { caller }) => listRecipients(context, request, caller),

  exportRecipients: ({ id }, { caller }) => exportRecipients(context, id, caller.organizationId),

  seriesOf: (request, { caller }) => seriesOf(context, request, caller.organizationId),

  linksOf: ({ id }, { caller }) => clicksOf(context, id, caller.organizationId),

  async checkSender({ senderId, userId }, { caller }) {
    const { _id, name, email } = await senderOf(context, senderId, actingFor(userId, caller))
    return { id: String(_id), name, email }
  },

  async sendTest(request, call) {
    await sendTest(context, request, call)
    return {}
  },
})

/** Returns the sender of a campaign. Its links must be safe, and its organization known. */
async function senderOf(context: Context, id: string | undefined, caller: Call['caller']) {
  const sender = await usableSender(context, id, caller, SENDER_PATH)
  const { protocol, hostname } = new URL(context.config.PUBLIC_URL)
  const isSafe = protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (!isSafe) throw new AppError('mailing.unsafe_links')
  await context.requireVerified(caller.organizationId)
  return sender
}

/**
 * Stores a mailing, unless a newer revision is stored. Once it has begun, only its rate changes, whatever its sender can do
 * by then. Fails with a duplicate if a newer revision is stored or it begins at the same time: run it by `retryDuplicate`.
 */
async function putMailing(context: Context, request: PutMailingRequest, caller: Call['caller']): Promise<void> {
  const { id, subject, campaignName, organizationName, revision } = request
  const { mailings } = context.collections.of(caller.organizationId)
  const numbered = revision !== undefined && { revision }
  const isNotNewer = revision !== undefined && { revision: { $not: { $gt: revision } } }
  const rate = { ratePerMinute: request.ratePerMinute ?? null, ...numbered }
  const stored = await mailings.findOne({ _id: id }, { projection: { state: 1, revision: 1 } })
  if (revision !== undefined && (stored?.revision ?? 0) > revision) return
  if (stored && stored.state !== 'prepared') {
    await mailings.updateOne({ _id: id, ...isNotNewer }, { $set: rate })
    return
  }
  const sender = await senderOf(context, request.senderId, actingFor(request.userId, caller))
  const content = {
    ...rate,
    sender: sender._id,
    subject,
    preheader: request.preheader ?? null,
    html: request.html ?? null,
    text: request.text ?? null,
    track: request.track ?? null,
    campaignName,
    organizationName,
  }
  const zero = { blocked: 0, unsubscribed: 0, address: 0 }
  const counts = { ...noCounts, suppressed: zero }
  const fresh = { pausedReason: null, isClosed: false, isReleased: false, nextAt: null, counts }
  const prepared = { _id: new Types.ObjectId(id), state: 'prepared', ...isNotNewer }
  await mailings.updateOne(prepared, { $set: content, $setOnInsert: fresh }, { upsert: true })
}

const noCounts = {
  recipients: 0,
  sent: 0,
  failed: 0,
  waiting: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  opened: 0,
  clicked: 0,
  unsubscribed: 0,
}

async function setState(
  context: Context,
  organizationId: string,
  id: string,
  state: 'sending' | 'paused' | 'cancelled',
): Promise<Shown> {
  const { mailings } = context.collections.of(organizationId)
  const from = { sending: ['prepared', 'paused'], paused: ['sending'], cancelled: ['prepared', 'sending', 'paused'] }
  const change = { $set: { state, pausedReason: null } }
  const changed = await mailings.findOneAndUpdate({ _id: id, state: { $in: from[state] } }, change)
  const mailing: Mailing = changed ?? (await mailings.get(id, 'mailing'))
  if (mailing.state === 'cancelled' && state !== 'cancelled') throw new AppError('mailing.cancelled')
  if (changed) context.mailingsJob.wake(mailing)
  return shown(mailing)
}

function shown({ _id, state, pausedReason, isClosed, counts }: Mailing): Shown {
  return {
    id: String(_id),
    state,
    ...(pausedReason !== null && { pausedReason }),
    isFinished: isClosed && counts.waiting === 0,
    counts,
  }
}

/** Stores test mails, which the job of mails sends. */
async function sendTest(context: Context, request: SendTestRequest, { caller }: Call): Promise<void> {
  const { organizationId } = caller
  const { to: addresses, subject, preheader, html, text, variables } = request
  const sender = await senderOf(context, request.senderId, caller)
  const checked = await context.checkRecipients(
    organizationId,
    addresses.map(email => ({ email })),
    false,
  )
  if (checked.some(({ outcome }) => outcome === 'blocked')) throw new AppError('contact.blocked')
  for (const to of addresses) await countMail(context, { organizationId, to })
  const { mails } = context.collections.of(organizationId)
  const template = compile({ subject, preheader: preheader ?? null, html: html ?? null, text: text ?? null })
  const at = new Date()
  const drafts = addresses.map(to => {
    const _id = new Types.ObjectId()
    const links = linksOf(context, { _id, organization: mails.organization, contact: null })
    const content = template.render({ ...variables, ...links })
    const from = { sender: sender._id, from: sender.email, messageId: `<${_id}@${domainOf(sender.email)}>` }
    const steps = [{ type: 'queued' as const, at, detail: null }]
    return { _id, key: `test mail ${_id}`, kind: 'test' as const, to, ...content, ...from, dueAt: at, steps }
  })
  await context.store.transaction(async tx => {
    const stored = await mails.insertMany(drafts, { tx })
    await addEvents(
      tx,
      stored.map(mail => mailEvent(mail, 'queued', at)),
    )
  })
  context.mailJob.wake()
}

/** Returns the links that templates show. */
function linksOf({ links }: Context, mail: Parameters<Context['links']['unsubscribeUrl']>[0]) {
  return { unsubscribe_url: links.unsubscribeUrl(mail), web_version_url: links.webVersionUrl(mail) }
}
