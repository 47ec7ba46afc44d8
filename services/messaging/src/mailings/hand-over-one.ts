import { compile, type Mail as Rendered, type Template, TemplateError } from '@rollcall/templates'
import type { Context } from '../context.ts'
import { type Deliver, openDelivery } from '../mail/deliver.ts'
import { DeliveryError, logFieldsOf, toDeliveryError } from '../mail/delivery-error.ts'
import { checkAgain, type HandOver } from '../mail/hand-over.ts'
import type { Mail } from '../mail/mail.model.ts'
import type { Sender } from '../senders/sender.model.ts'
import { tracked } from '../tracking/tracked.ts'
import type { Mailing } from './mailing.model.ts'
import type { End } from './record-ends.ts'

const MAX_RETRY_MS = 6 * 3_600_000

/** A recipient whose turn it is, and what is known of it. */
export type Candidate = { mail: Mail; handOver: HandOver }

/** What the mails of a mailing share. */
export type Sending = { mailing: Mailing; sender: Sender; template: Template | TemplateError; deliver: Deliver }

/** Returns what the next mails of a mailing share, or why its sender cannot send. */
export async function openSending(
  context: Context,
  mailing: Mailing,
  template: Sending['template'],
): Promise<Sending | { fault: string }> {
  const organizationId = String(mailing.organization)
  const sender = await context.collections.of(organizationId).senders.findOne({ _id: mailing.sender })
  if (!sender) return { fault: 'the sender no longer exists' }
  if (!sender.active) return { fault: 'the sender is not active' }
  return { mailing, sender, template, deliver: await openDelivery(context, organizationId, sender) }
}

/** Returns the template of a mailing, or what is wrong with it. */
export function compiled({ subject, preheader, html, text }: Mailing): Template | TemplateError {
  try {
    return compile({ subject, preheader, html, text })
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
}

/**
 * What became of a mail. `pausedReason`: why the sender cannot send at all; `unreachable`: no server answered, or not to
 * the end, with the domain of the recipient if only its servers are known to.
 */
export type Outcome = {
  end: End
  subject?: string
  pausedReason?: string
  unreachable?: Pick<DeliveryError, 'domain'>
}

/** Returns the outcome of a mail that was not handed over: it waits for its next attempt. */
function later({ mail }: Candidate): Outcome {
  return { end: { kind: 'waiting', nextTryAt: mail.nextTryAt! } }
}

/**
 * Hands one rendered mail over. Never rejects: what is unknown is an outcome, too. A mail whose text goes out only after
 * `until`, because others or a slow server delayed it, is checked again; it waits if it may not go, or if the signal fires.
 */
export async function handOver(
  context: Context,
  sending: Sending,
  candidate: Candidate,
  { rendered, until, signal }: { rendered: Rendered | TemplateError; until: number; signal: AbortSignal },
): Promise<Outcome> {
  if (rendered instanceof TemplateError) return failed(context, sending, candidate, templateFailure(rendered))
  const { subject } = rendered
  const confirm = async () => {
    if (Date.now() >= until) await confirmLate(context, sending, candidate)
  }
  try {
    const reply = await sending.deliver(messageOf(context, sending, candidate, rendered), { confirm, signal })
    return { end: { kind: 'sent', detail: reply }, subject }
  } catch (error) {
    return { ...failed(context, sending, candidate, toDeliveryError(error)), subject }
  }
}

async function confirmLate(context: Context, { mailing }: Sending, { mail, handOver }: Candidate): Promise<void> {
  if (!(await isSending(context, mailing))) throw new Error('the campaign does not send now')
  await checkAgain(context, String(mailing.organization), mail, { to: handOver.to, isCampaign: true })
}

/** Returns whether a mailing is being sent, not paused or cancelled. */
export async function isSending({ collections }: Context, { organization, _id }: Mailing): Promise<boolean> {
  const { mailings } = collections.of(organization)
  return (await mailings.findOne({ _id, state: 'sending' }, { projection: { _id: 1 } })) !== null
}

function templateFailure(error: TemplateError): DeliveryError {
  return new DeliveryError('failed', `${error.field}: ${error.message}`, { isAboutMail: true })
}

/** Returns the content for each of some recipients, or what is wrong with it. */
export function renderFor(
  { links }: Context,
  { mailing, sender, template }: Sending,
  candidates: readonly Candidate[],
): (Rendered | TemplateError)[] {
  if (template instanceof TemplateError) return candidates.map(() => template)
  const shared = {
    campaign: { name: mailing.campaignName },
    organization: { name: mailing.organizationName },
    sender: { name: sender.name, email: sender.email },
  }
  return template.renderAll(
    candidates.map(({ mail, handOver }) => ({
      ...shared,
      contact: handOver.variables,
      unsubscribe_url: links.unsubscribeUrl(mail),
      web_version_url: links.webVersionUrl(mail),
    })),
  )
}

/** Returns the mail of one recipient. */
function messageOf({ links }: Context, { mailing }: Sending, { mail, handOver }: Candidate, rendered: Rendered) {
  const headers = {
    'List-Unsubscribe': `<${links.unsubscribeUrl(mail)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  const html = tracked(links, mail, rendered.html, mailing.track)
  return { ...rendered, html, mail, messageId: mail.messageId, date: new Date(), to: handOver.to, headers }
}

function failed(context: Context, { mailing }: Sending, candidate: Candidate, failure: DeliveryError): Outcome {
  const { mail, handOver } = candidate
  const { kind, message: detail } = failure
  const logFields = logFieldsOf(failure, handOver.to)
  context.logger.info({ mailing: String(mailing._id), mail: String(mail._id), ...logFields }, 'mail not sent')
  if (failure.isHeldBack) return later(candidate)
  if (kind === 'bounced') return { end: { kind: 'bounced', detail, isBadAddress: failure.isBadAddress } }
  if (kind === 'failed' && failure.isAboutMail) return { end: { kind: 'failed', detail } }
  if (kind === 'failed') return { ...later(candidate), pausedReason: detail }
  if (failure.mayHaveArrived)
    return { end: { kind: 'failed', detail: `unknown whether it was handed over: ${detail}` }, unreachable: failure }
  const failures = (mail.failures ?? 0) + 1
  const unreachable = failure.isUnreachable && { unreachable: failure }
  if (failures >= context.config.MAIL_ATTEMPTS) return { end: { kind: 'failed', detail }, ...unreachable }
  const retryMs = Math.min(context.config.MAIL_RETRY_MS * 4 ** (failures - 1), MAX_RETRY_MS)
  const nextTryAt = new Date(Date.now() + retryMs)
  return { end: { kind: 'waiting', nextTryAt, failures, detail }, ...unreachable }
}

/** Returns the end of a recipient who may not get the mail. */
export function endOf({ refusal }: HandOver): End {
  const { reason, error: detail } = refusal!
  return reason === 'deleted' ? { kind: 'failed', detail } : { kind: 'suppressed', reason, detail }
}
