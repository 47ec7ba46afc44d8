import type { LeaseSlice } from '@rollcall/jobs'
import { ERASED } from '@rollcall/service'
import { addEvents, type BulkOperation, type OutgoingEvent } from '@rollcall/store'
import type { Context } from '../context.ts'
import { erasedSince, withoutRecipient } from '../mail/erased-mail.ts'
import type { Mail, MailStep } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { recordBounceIn } from '../returns/soft-bounces.ts'
import type { Mailing } from './mailing.model.ts'

/**
 * What became of a recipient. `waiting`: it was certainly not handed over, and is tried again. `detail` is null for an
 * erased recipient.
 */
export type End =
  | { kind: 'sent' | 'failed'; detail: string | null }
  | { kind: 'bounced'; detail: string | null; isBadAddress: boolean }
  | { kind: 'suppressed'; reason: 'blocked' | 'unsubscribed' | 'address'; detail: string | null }
  | { kind: 'waiting'; nextTryAt: Date; failures?: number; detail?: string | null }

/** A recipient, the address and subject of its mail, and what became of it. */
export type Ended = {
  mail: Mail
  to: string
  subject?: string | undefined
  end: End
  /** When its hand-over began; absent if it did not. */
  markedAt?: Date
}

/**
 * Records outcomes, counts, suppressions and events in one transaction. Repeating it changes nothing. Of recipients who
 * were erased meanwhile, it records the outcome alone.
 */
export async function recordEnds(
  context: Context,
  { _id, organization }: Mailing,
  ends: readonly Ended[],
  slice: LeaseSlice,
): Promise<void> {
  if (ends.length === 0) return
  const { store, collections, mailsEnded } = context
  const { mails, mailings } = collections.of(organization)
  const at = new Date()
  await store.transaction(async tx => {
    await slice.fence(tx)
    const erased = await erasedSince(
      mails,
      ends.map(({ mail }) => mail),
      tx,
    )
    const isErased = ({ mail }: Ended) => erased.has(String(mail._id))
    const recorded = ends.map(ended => (isErased(ended) ? withoutPerson(ended) : ended))
    const writes = recorded.map(ended => writeOf(ended, at))
    const written = await mails.bulkWrite(writes, { tx, ordered: true })
    if (written!.matchedCount === 0) return // an earlier attempt was committed, and its answer was lost
    const counted = countsOf(ends)
    if (Object.keys(counted).length > 0) await mailings.updateOne({ _id }, { $inc: counted }, { tx })
    for (const ended of ends) {
      const { mail, to, end } = ended
      if (end.kind === 'bounced' && !isErased(ended))
        await recordBounceIn(context, { ...mail, to }, { ...end, detail: end.detail!, at }, tx)
    }
    await addEvents(
      tx,
      recorded.flatMap(ended => eventsOf(ended, at)),
    )
  })
  for (const { end } of ends) if (end.kind !== 'waiting') mailsEnded.inc({ outcome: end.kind })
}

function withoutPerson({ mail, end, markedAt }: Ended): Ended {
  return { mail: withoutRecipient(mail), to: ERASED, end: { ...end, detail: null }, ...(markedAt && { markedAt }) }
}

/** Every end changes the status that the mail had: a repetition finds none. */
function writeOf(ended: Ended, at: Date): BulkOperation {
  const { mail, to, subject, end } = ended
  const filter = { _id: mail._id, status: mail.status }
  const first = firstStep(ended)
  if (end.kind === 'waiting') {
    const { nextTryAt, failures, detail } = end
    const again = { status: 'waiting', nextTryAt, ...(failures !== undefined && { failures, error: detail ?? null }) }
    return { updateOne: { filter, update: { $set: again, $push: { steps: { $each: first } } } } }
  }
  const { kind: status, detail } = end
  const content = { to, ...(subject !== undefined && { subject }) }
  const error = status === 'sent' ? null : detail
  const set = { status, ...content, error, ...(status === 'sent' && { sentAt: at }), finishedAt: at }
  const steps = [...first, { type: status, at, detail }]
  return { updateOne: { filter, update: { $set: set, $push: { steps: { $each: steps } } } } }
}

/** Returns the step of a mail whose hand-over begins for the first time. */
function firstStep({ mail, markedAt }: Ended): MailStep[] {
  return markedAt && mail.steps.length === 0 ? [{ type: 'queued', at: markedAt, detail: null }] : []
}

/** Returns what to add to the counts of the mailing: each recipient leaves `waiting` for one other count. */
function countsOf(ends: readonly Ended[]): Record<string, number> {
  const counted: Record<string, number> = {}
  const add = (name: string, count: number) => {
    counted[`counts.${name}`] = (counted[`counts.${name}`] ?? 0) + count
  }
  for (const { end } of ends) {
    if (end.kind === 'waiting') continue
    add('waiting', -1)
    if (end.kind === 'suppressed') add(`suppressed.${end.reason}`, 1)
    else add(end.kind === 'sent' ? 'sent' : 'failed', 1)
    if (end.kind === 'bounced') add('bounced', 1)
  }
  return counted
}

function eventsOf(ended: Ended, at: Date): OutgoingEvent[] {
  const { mail, to, subject = mail.subject, end } = ended
  const first = firstStep(ended).map(({ at: markedAt }) => mailEvent({ ...mail, to }, 'queued', markedAt))
  if (end.kind === 'waiting') return first
  const error = end.kind === 'sent' ? undefined : (end.detail ?? undefined)
  return [...first, mailEvent({ ...mail, to, subject }, end.kind, at, error)]
}
