import type { LeaseSlice } from '@rollcall/jobs'
import { addEvents, type BulkOperation } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { suppress } from '../suppressions/suppress.ts'
import type { Mailing } from './mailing.model.ts'

/** What became of a recipient. `waiting`: it was certainly not handed over, and is tried again. */
export type End =
  | { kind: 'sent' | 'failed'; detail: string }
  | { kind: 'bounced'; detail: string; isBadAddress: boolean }
  | { kind: 'suppressed'; reason: 'blocked' | 'unsubscribed' | 'address'; detail: string }
  | { kind: 'waiting'; nextTryAt: Date; failures?: number; detail?: string }

/** A recipient, the address and subject of its mail, and what became of it. */
export type Ended = { mail: Mail; to: string; subject?: string | undefined; end: End }

/** Records outcomes, counts, suppressions and events in one transaction. */
export async function recordEnds(
  { store, collections, mailsEnded }: Context,
  { _id, organization }: Mailing,
  ends: readonly Ended[],
  slice: LeaseSlice,
): Promise<void> {
  if (ends.length === 0) return
  const { mails, mailings, suppressions } = collections.of(organization)
  const at = new Date()
  await store.transaction(async tx => {
    await slice.fence(tx)
    await mails.bulkWrite(
      ends.map(ended => writeOf(ended, at)),
      { tx, ordered: true },
    )
    const counted = countsOf(ends)
    if (Object.keys(counted).length > 0) await mailings.updateOne({ _id }, { $inc: counted }, { tx })
    for (const { mail, to, end } of ends) {
      if (end.kind !== 'bounced' || !end.isBadAddress) continue
      const cause = { email: to, kind: 'hard_bounce', reason: end.detail, message: String(mail._id), at } as const
      await suppress(suppressions, cause, tx)
    }
    await addEvents(
      tx,
      ends.flatMap(ended => eventOf(ended, at)),
    )
  })
  for (const { end } of ends) if (end.kind !== 'waiting') mailsEnded.inc({ outcome: end.kind })
}

/** Only this replica changes mails that wait or are being handed over: its lease is fenced. */
function writeOf({ mail: { _id }, to, subject, end }: Ended, at: Date): BulkOperation {
  const filter = { _id, status: { $in: ['waiting', 'queued'] } }
  const content = { to, ...(subject !== undefined && { subject }) }
  if (end.kind === 'waiting') {
    const { nextTryAt, failures, detail } = end
    const again = { status: 'waiting', nextTryAt, ...(failures !== undefined && { failures, error: detail ?? null }) }
    return { updateOne: { filter, update: { $set: again } } }
  }
  const { kind: status, detail } = end
  const error = status === 'sent' ? null : detail
  const set = { status, ...content, error, ...(status === 'sent' && { sentAt: at }), finishedAt: at }
  return { updateOne: { filter, update: { $set: set, $push: { steps: { type: status, at, detail } } } } }
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

function eventOf({ mail, to, subject = mail.subject, end }: Ended, at: Date) {
  if (end.kind === 'waiting') return []
  const error = end.kind === 'sent' ? undefined : end.detail
  return [mailEvent({ ...mail, to, subject }, end.kind, at, error)]
}
