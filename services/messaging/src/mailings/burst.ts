import type { LeaseSlice } from '@rollcall/jobs'
import { retry } from '@rollcall/runtime'
import { addEvents, LeaseLost } from '@rollcall/store'
import { compile, type Template, TemplateError } from '@rollcall/templates'
import pLimit from 'p-limit'
import type { Context } from '../context.ts'
import { type Deliver, openDelivery } from '../mail/deliver.ts'
import { DeliveryError, toDeliveryError } from '../mail/delivery-error.ts'
import { checkHandOver, type HandOver } from '../mail/hand-over.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { takeQuota } from '../mail/sending-quota.ts'
import { CONNECTIONS_EACH } from '../mail/smtp.ts'
import type { Sender } from '../senders/sender.model.ts'
import { tracked } from '../tracking/tracked.ts'
import type { Mailing } from './mailing.model.ts'
import { paceOf } from './pace.ts'
import { type End, type Ended, recordEnds } from './record-ends.ts'

/** No hand-over begins later than this after the state of the mailing was read, so that a pause holds within 2 s. */
const START_MS = 1000
const RETRY_WRITE_MS = 500
const MAX_WRITE_MS = 60_000
const MAX_RETRY_MS = 6 * 3_600_000

/** A recipient whose turn it is, and what is known of it. */
type Candidate = { mail: Mail; handOver: HandOver }

/** The next recipients of a mailing. `granted` is how many of those that may get the mail may get it now. */
export type Burst = {
  mailing: Mailing
  template: Template | TemplateError
  candidates: Candidate[]
  granted: number
  nextAt: number | null
}

/** Returns the next burst of at most `size` recipients, or how long to wait for it. */
export async function openBurst(
  context: Context,
  mailing: Mailing,
  template: Burst['template'],
  size: number,
): Promise<Burst | { waitMs: number }> {
  const now = Date.now()
  const tenant = context.collections.of(mailing.organization)
  const pace = mailing.ratePerMinute === null ? null : paceOf(mailing.ratePerMinute, mailing.nextAt, now)
  if (pace?.count === 0) return { waitMs: pace.waitMs }
  const limit = Math.min(size, pace?.count ?? size)
  const due = { campaign: mailing._id, status: 'waiting', nextTryAt: { $lte: new Date(now) } }
  const mails: Mail[] = await tenant.mails.find(due, { sort: { nextTryAt: 1, _id: 1 }, limit })
  if (mails.length === 0) return { waitMs: Number.POSITIVE_INFINITY }
  const checked = await checkHandOver(context, String(mailing.organization), mails, true)
  const candidates = mails.map((mail, index) => ({ mail, handOver: checked[index]! }))
  const wanted = candidates.filter(({ handOver }) => handOver.refusal === null).length
  const { granted, waitMs } = wanted === 0 ? { granted: 0, waitMs: 0 } : await takeQuota(tenant, context.config, wanted)
  if (wanted > 0 && granted === 0 && wanted === candidates.length) return { waitMs }
  return { mailing, template, candidates, granted, nextAt: pace?.nextAt(granted) ?? null }
}

/** Sends a burst and records what became of it. Returns after how many milliseconds to go on. */
export async function sendBurst(context: Context, burst: Burst, slice: LeaseSlice): Promise<number> {
  const { mailing, candidates, granted } = burst
  const refused = candidates.filter(({ handOver }) => handOver.refusal !== null)
  const chosen = candidates.filter(({ handOver }) => handOver.refusal === null).slice(0, granted)
  const sender = await context.collections.of(mailing.organization).senders.findOne({ _id: mailing.sender })
  const fault = sender === null ? 'the sender no longer exists' : sender.active ? undefined : 'the sender is not active'
  if (fault !== undefined) {
    await pauseItself(context, mailing, fault)
    return 0
  }
  const sending = await openSending(context, burst, sender!)
  const markedAt = await mark(context, burst, chosen, slice) // what fails from here on counts as unknown
  if (markedAt === undefined) return 0
  const isLate = () => Date.now() - markedAt > START_MS || slice.signal.aborted
  const limit = pLimit(CONNECTIONS_EACH)
  const outcomes = await Promise.all(
    chosen.map((candidate, index) =>
      limit(async () => {
        const mayBegin = index === 0 || !isLate() // the first one always, so that slow stores do not stop everything
        const outcome = mayBegin ? await handOver(context, sending, candidate) : later(candidate)
        return { candidate, ...outcome }
      }),
    ),
  )
  const ends: Ended[] = [
    ...refused.map(({ mail, handOver }) => ({ mail, to: handOver.to, end: endOf(handOver) })),
    ...outcomes.map(({ candidate: { mail, handOver }, end, subject }) => ({ mail, to: handOver.to, subject, end })),
  ]
  await recordEndsSurely(context, mailing, ends, slice)
  const pausing = outcomes.find(({ pausedReason }) => pausedReason !== undefined)
  if (pausing) await pauseItself(context, mailing, pausing.pausedReason!)
  const isDown = outcomes.length > 0 && outcomes.every(({ isUnreachable }) => isUnreachable)
  return isDown ? context.config.MAIL_RETRY_MS : 0
}

/**
 * Marks mails as being handed over, with their events: from here on nobody sends them again. Returns when the mailing was
 * still sending; undefined if it is not.
 */
async function mark(
  { store, collections }: Context,
  { mailing, nextAt }: Burst,
  chosen: readonly Candidate[],
  slice: LeaseSlice,
): Promise<number | undefined> {
  if (chosen.length === 0) return Date.now()
  const { mails, mailings } = collections.of(mailing.organization)
  const at = new Date()
  return store.transaction(async tx => {
    await slice.fence(tx)
    const markedAt = Date.now()
    if (!(await mailings.findOne({ _id: mailing._id, state: 'sending' }, { tx, projection: { _id: 1 } })))
      return undefined
    if (nextAt !== null) await mailings.updateOne({ _id: mailing._id }, { $set: { nextAt } }, { tx, timestamps: false })
    const [again, first] = partition(chosen, ({ mail }) => mail.steps.length > 0)
    const status = { $set: { status: 'queued' } }
    const step = { $push: { steps: { type: 'queued', at, detail: null } } }
    for (const [part, update] of [
      [again, status],
      [first, { ...status, ...step }],
    ] as const) {
      if (part.length === 0) continue
      const waiting = { _id: { $in: part.map(({ mail }) => mail._id) }, status: 'waiting' }
      const { modifiedCount } = await mails.updateMany(waiting, update, { tx })
      if (modifiedCount !== part.length) throw new Error('recipients were changed concurrently')
    }
    await addEvents(
      tx,
      first.map(({ mail, handOver: { to } }) => mailEvent({ ...mail, to }, 'queued', at)),
    )
    return markedAt
  })
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter(item => !isFirst(item))]
}

/** What the mails of a burst share. */
type Sending = { mailing: Mailing; sender: Sender; template: Template | TemplateError; deliver: Deliver }

async function openSending(context: Context, { mailing, template }: Burst, sender: Sender): Promise<Sending> {
  return { mailing, sender, template, deliver: await openDelivery(context, String(mailing.organization), sender) }
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

type Outcome = { end: End; subject?: string; pausedReason?: string; isUnreachable?: boolean }

function later({ mail }: Candidate): Outcome {
  return { end: { kind: 'waiting', nextTryAt: mail.nextTryAt! } }
}

/** Hands one mail over. Never rejects: what is unknown is an outcome, too. */
async function handOver(context: Context, sending: Sending, candidate: Candidate): Promise<Outcome> {
  let subject: string | undefined
  try {
    const { message, rendered } = rendering(context, sending, candidate)
    subject = rendered.subject
    const reply = await sending.deliver(message)
    return { end: { kind: 'sent', detail: reply }, subject }
  } catch (error) {
    const failure = error instanceof TemplateError ? templateFailure(error) : toDeliveryError(error)
    return { ...failed(context, sending, candidate, failure), ...(subject !== undefined && { subject }) }
  }
}

function templateFailure(error: TemplateError): DeliveryError {
  return new DeliveryError('failed', `${error.field}: ${error.message}`, { isAboutMail: true })
}

/** Returns the mail of one recipient. @throws {TemplateError} */
function rendering({ links }: Context, { mailing, sender, template }: Sending, { mail, handOver }: Candidate) {
  if (template instanceof TemplateError) throw template
  const unsubscribeUrl = links.unsubscribeUrl(mail)
  const rendered = template.render({
    contact: handOver.variables,
    campaign: { name: mailing.campaignName },
    organization: { name: mailing.organizationName },
    sender: { name: sender.name, email: sender.email },
    unsubscribe_url: unsubscribeUrl,
    web_version_url: links.webVersionUrl(mail),
  })
  const headers = {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
  const html = tracked(links, mail, rendered.html, mailing.track)
  const message = { ...rendered, html, messageId: mail.messageId, date: new Date(), to: handOver.to, headers }
  return { rendered, message }
}

function failed(context: Context, { mailing }: Sending, candidate: Candidate, failure: DeliveryError): Outcome {
  const { mail } = candidate
  const { kind, message: detail } = failure
  context.logger.info({ mailing: String(mailing._id), mail: String(mail._id), kind, err: failure }, 'mail not sent')
  if (kind === 'bounced') return { end: { kind: 'bounced', detail, isBadAddress: failure.isBadAddress } }
  if (kind === 'failed' && failure.isAboutMail) return { end: { kind: 'failed', detail } }
  if (kind === 'failed') return { ...later(candidate), pausedReason: detail }
  if (failure.mayHaveArrived)
    return { end: { kind: 'failed', detail: `unknown whether it was handed over: ${detail}` } }
  const failures = (mail.failures ?? 0) + 1
  if (failures >= context.config.MAIL_ATTEMPTS) return { end: { kind: 'failed', detail } }
  const retryMs = Math.min(context.config.MAIL_RETRY_MS * 4 ** (failures - 1), MAX_RETRY_MS)
  const nextTryAt = new Date(Date.now() + retryMs)
  return { end: { kind: 'waiting', nextTryAt, failures, detail }, isUnreachable: failure.isUnreachable }
}

function endOf({ refusal }: HandOver): End {
  const { reason, error: detail } = refusal!
  return reason === 'deleted' ? { kind: 'failed', detail } : { kind: 'suppressed', reason, detail }
}

/** Records outcomes until the database is available: without that, mails that were sent would be unknown. */
function recordEndsSurely(
  context: Context,
  mailing: Mailing,
  ends: readonly Ended[],
  slice: LeaseSlice,
): Promise<void> {
  return retry(() => recordEnds(context, mailing, ends, slice), {
    maxMs: RETRY_WRITE_MS,
    deadline: Date.now() + MAX_WRITE_MS,
    retryable: error => !(error instanceof LeaseLost),
    onRetry: err =>
      context.logger.warn({ err, mailing: String(mailing._id) }, 'outcomes of mails not recorded, retrying'),
  })
}

/** Pauses a mailing whose sender cannot send. */
async function pauseItself(
  { collections, logger }: Context,
  { _id, organization }: Mailing,
  reason: string,
): Promise<void> {
  const pausing = { $set: { state: 'paused', pausedReason: reason } }
  await collections.of(organization).mailings.updateOne({ _id, state: 'sending' }, pausing)
  logger.info({ mailing: String(_id), reason }, 'mailing paused, its sender cannot send')
}
