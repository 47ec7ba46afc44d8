import { defineJob, type LeaseJob, type LeaseSlice, type Outcome } from '@rollcall/jobs'
import { pause } from '@rollcall/runtime'
import type { Types } from 'mongoose'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { type Batch, openBatch } from './batch.ts'
import { dueMailsOf } from './due-mails.ts'
import { compiled, isSending, openSending, type Sending } from './hand-over-one.ts'
import { createInHand, type InHand, MAX_IN_HAND } from './in-hand.ts'
import type { Mailing } from './mailing.model.ts'
import { recordEnds } from './record-ends.ts'

/** A slice ends after this time at the latest, with the batch at hand. */
const SLICE_MS = 30_000
/** Looks again at least this often, because state and rate may change. */
const MAX_WAIT_MS = 1000
const IDLE_EVERY_MS = 60_000
const RECOVERED_AT_ONCE = 500
const RELEASED_AT_ONCE = 1000
/** The batch grows while it takes less than this, and shrinks above, so that it and the next one begin while they are fresh. */
const BATCH_MS = 400
const MIN_BATCH = MAX_IN_HAND
/** No hand-over begins later than this after its recipient was checked, so that a pause holds within 2 s. */
const FRESH_MS = 1500
/** A database that is slower than that gets more time, so that it does not stop everything. */
const MAX_FRESH_MS = 12_000
const MAX_BATCH = 200
const UNKNOWN = 'unknown whether it was handed over'

/**
 * Sends the mailings whose recipients wait. One replica at a time works on a mailing, in batches of a few mails:
 *
 * 1. End the mails that a replica was handing over when it crashed: nobody knows whether their server has them, so they
 * fail, and are not sent again unless somebody asks for it.
 * 2. Read the state of the mailing, and take the next recipients, as many as its rate and the quotas allow. Ask the
 * audience about them.
 * 3. Mark a mail as queued as soon as a connection to its server is free. From here on it is not sent again.
 * 4. Hand it over. Other mailings may use all connections to its server meanwhile: a text that goes out late is checked
 * again first. Record outcomes, counts and events in one transaction, those of all mails that ended meanwhile. Mails
 * that were certainly not accepted wait for another attempt.
 *
 * So only mails that are being handed over are marked, a few at a time. The lease fences the transactions, and a mail is
 * marked once, so that a replica that stalled sends and records nothing once another one took over.
 */
export function sendMailingsJob(
  { store, collections }: Pick<Context, 'store' | 'collections'>,
  run: (mailing: Mailing, slice: LeaseSlice) => Promise<Outcome>,
): LeaseJob<Mailing> {
  return defineJob<Mailing>({
    name: 'mailings',
    lease: { store },
    unfinished: () => collections.unscoped.mailings.find(hasWork, listed).lean<Mailing[]>(),
    load: ({ _id, organization }) => collections.of(organization).mailings.findOne({ ...hasWork, _id }),
    since: ({ updatedAt, idleAt }) => (idleAt && idleAt > updatedAt ? idleAt : updatedAt),
    run,
  })
}

const hasWork = {
  state: { $in: ['sending', 'cancelled'] as Mailing['state'][] },
  isReleased: false,
  'counts.waiting': { $gt: 0 },
}

/** What a search needs: contents are large. */
const listed = { organization: 1, updatedAt: 1, idleAt: 1 }
/** What may change from burst to burst. */
const current = { state: 1, ratePerMinute: 1, nextAt: 1 } as const

/** Works on a mailing for a few seconds. */
export async function sendMailing(context: Context, mailing: Mailing, slice: LeaseSlice): Promise<Outcome> {
  await failInterrupted(context, mailing, slice)
  return mailing.state === 'cancelled' ? release(context, mailing, slice) : sendForAWhile(context, mailing, slice)
}

async function sendForAWhile(context: Context, mailing: Mailing, slice: LeaseSlice): Promise<Outcome> {
  const inHand = createInHand(context, mailing, slice)
  try {
    return await sendBatches(context, mailing, slice, inHand)
  } finally {
    await inHand.settle()
    const reason = inHand.pausedReason()
    if (reason !== undefined) await pauseItself(context, mailing, reason)
  }
}

async function sendBatches(context: Context, mailing: Mailing, slice: LeaseSlice, inHand: InHand): Promise<Outcome> {
  const open = createOpener(context, mailing, inHand)
  let size = MIN_BATCH
  let freshMs = FRESH_MS
  /** The batch that was opened while the last one began. */
  let next: Promise<Opened | undefined> | undefined
  try {
    for (const end = Date.now() + SLICE_MS; Date.now() < end && !slice.signal.aborted; ) {
      if (next && !(await isSending(context, mailing))) return 'done' // one that was opened ahead does not know
      const opened = await (next ?? open({ size, freshMs }))
      next = undefined
      if (opened === undefined) return 'done'
      const { sending, batch } = opened
      if ('waitMs' in batch) {
        const isLast = batch.waitMs === Number.POSITIVE_INFINITY && inHand.taken().length > 0
        if (isLast) return 'again'
        if (batch.waitMs >= MAX_WAIT_MS) {
          await recordIdle(context, mailing)
          return MAX_WAIT_MS
        }
        await pause(batch.waitMs, slice.signal)
        continue
      }
      // One with a rate is opened when its time has come.
      if (mailing.ratePerMinute === null) {
        next = open({ size, freshMs, besides: batch })
        next.catch(() => undefined) // awaited later, unless something else fails first
      }
      const startedAt = Date.now()
      const begun = await inHand.begin(sending, batch)
      freshMs = begun === 0 && batch.chosen.length > 0 ? Math.min(2 * freshMs, MAX_FRESH_MS) : FRESH_MS
      if (inHand.pausedReason() !== undefined) return 'done'
      if (inHand.isDown()) return context.config.MAIL_RETRY_MS
      size = nextSize(size, Date.now() - startedAt)
    }
    return 'again'
  } finally {
    await leave(next)
  }
}

/** What the next mails share, and a batch of them, or how long to wait for it. */
type Opened = { sending: Sending; batch: Batch | { waitMs: number } }
type Opening = {
  size: number
  freshMs: number
  /** A batch that is about to begin, and is not taken yet. */
  besides?: Batch
}

/** Returns what opens the next batch, if the mailing is to be sent; undefined otherwise. */
function createOpener(context: Context, mailing: Mailing, inHand: InHand) {
  const tenant = context.collections.of(mailing.organization)
  const nextDue = dueMailsOf(tenant, mailing)
  const template = compiled(mailing)
  return async ({ besides, ...options }: Opening): Promise<Opened | undefined> => {
    const now = await tenant.mailings.findOne({ _id: mailing._id, state: 'sending' }, { projection: current })
    if (!now) return undefined
    const others = [...(besides?.chosen ?? []), ...(besides?.refused ?? [])].map(({ mail }) => mail._id)
    const taken = [...inHand.taken(), ...others]
    const [sending, batch] = await Promise.all([
      openSending(context, mailing, template),
      openBatch(context, { ...mailing, ...now }, { nextDue, taken, ...options }),
    ])
    if (!('fault' in sending)) return { sending, batch }
    if ('release' in batch) await batch.release()
    await pauseItself(context, mailing, sending.fault)
    return undefined
  }
}

/** Records, once a minute, that no mail may go now: a mailing that waits for its time is not late. */
async function recordIdle({ collections }: Context, { _id, organization, idleAt }: Mailing): Promise<void> {
  const now = new Date()
  if (idleAt && Number(now) - Number(idleAt) < IDLE_EVERY_MS) return
  await collections.of(organization).mailings.updateOne({ _id }, { $set: { idleAt: now } }, { timestamps: false })
}

/** Releases a batch of which nothing begins. */
async function leave(next: Promise<Opened | undefined> | undefined): Promise<void> {
  const opened = await next?.catch(() => undefined)
  if (opened && 'release' in opened.batch) await opened.batch.release()
}

function nextSize(size: number, tookMs: number): number {
  if (tookMs < BATCH_MS / 2) return Math.min(MAX_BATCH, size * 2)
  return tookMs > BATCH_MS ? Math.max(MIN_BATCH, Math.floor(size / 2)) : size
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

/** Ends the mails that were being handed over: this replica has the lease and none at hand, so it was another process. */
async function failInterrupted(context: Context, mailing: Mailing, slice: LeaseSlice): Promise<void> {
  const { mails } = context.collections.of(mailing.organization)
  const interrupted = { campaign: mailing._id, status: 'queued' }
  for (;;) {
    const found: Mail[] = await mails.find(interrupted, { limit: RECOVERED_AT_ONCE })
    if (found.length === 0) return
    const end = { kind: 'failed', detail: UNKNOWN } as const
    const ends = found.map(mail => ({ mail, to: mail.to, markedAt: mail.markedAt ?? mail.updatedAt, end }))
    await recordEnds(context, mailing, ends, slice)
  }
}

/** Lets the recipients that a cancelled mailing left waiting expire, like messages that have ended. */
async function release(context: Context, { _id, organization }: Mailing, { signal }: LeaseSlice): Promise<Outcome> {
  const { mails, mailings } = context.collections.of(organization)
  const left = { campaign: _id, status: 'waiting', finishedAt: null }
  const found: Mail['_id'][] = []
  for await (const mail of mails.stream<Mail>([{ $match: left }, { $project: { _id: 1 } }])) {
    if (signal.aborted) return 'again'
    found.push(mail._id)
    if (found.length === RELEASED_AT_ONCE) await finish(context, organization, found.splice(0))
  }
  await finish(context, organization, found)
  await mailings.updateOne({ _id }, { $set: { isReleased: true } }, { timestamps: false })
  return 'done'
}

/** In a transaction, which is retried on a conflict: SecantusDB can hang on a plain `updateMany` that has one. */
function finish({ store, collections }: Context, organization: Types.ObjectId, ids: Mail['_id'][]) {
  const waiting = { _id: { $in: ids }, status: 'waiting' }
  return store.transaction(async tx => {
    const { mails } = collections.of(organization, tx)
    await mails.updateMany(waiting, { $set: { finishedAt: new Date() } }, { timestamps: false })
  })
}
