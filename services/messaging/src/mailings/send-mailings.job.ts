import { defineJob, type LeaseJob, type LeaseSlice, type Outcome } from '@rollcall/jobs'
import { addEvents } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { Mail } from '../mail/mail.model.ts'
import { mailEvent } from '../mail/mail-events.ts'
import { compiled, openBurst, sendBurst } from './burst.ts'
import type { Mailing } from './mailing.model.ts'

/** A slice ends after this time at the latest, with the burst at hand. */
const SLICE_MS = 3000
/** Looks again at least this often, because state and rate may change. */
const MAX_WAIT_MS = 1000
const RECOVERED_AT_ONCE = 500
/** The burst grows while it takes less than this, and shrinks above, so that a pause takes effect soon. */
const BURST_MS = 300
const MIN_BURST = 10
const MAX_BURST = 100
const UNKNOWN = 'unknown whether it was handed over'

/**
 * Sends the mailings whose recipients wait. One replica at a time works on a mailing, in bursts of a few mails:
 *
 * 1. End the mails that a replica was handing over when it crashed: nobody knows whether their server has them, so they
 * fail, and are not sent again unless somebody asks for it.
 * 2. Read the state of the mailing, and take the next recipients, as many as its rate and the quotas allow.
 * 3. Ask the audience about them, and mark those that may get the mail as queued. From here on they are not sent again.
 * 4. Hand them to the mail server, and record all outcomes, counts and events in one transaction. Those that were
 * certainly not accepted wait for another attempt.
 *
 * The lease fences each transaction, so that a replica that stalled marks and records nothing once another one took over.
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
    since: ({ updatedAt }) => updatedAt,
    run,
  })
}

const hasWork = {
  state: { $in: ['sending', 'cancelled'] as Mailing['state'][] },
  isReleased: false,
  'counts.waiting': { $gt: 0 },
}

/** What a search needs: contents are large. */
const listed = { organization: 1, updatedAt: 1 }
/** What may change from burst to burst. */
const current = { state: 1, ratePerMinute: 1, nextAt: 1 } as const

/** Works on a mailing for a few seconds. */
export async function sendMailing(context: Context, mailing: Mailing, slice: LeaseSlice): Promise<Outcome> {
  await failInterrupted(context, mailing, slice)
  return mailing.state === 'cancelled' ? release(context, mailing) : sendForAWhile(context, mailing, slice)
}

async function sendForAWhile(context: Context, mailing: Mailing, slice: LeaseSlice): Promise<Outcome> {
  const { mailings } = context.collections.of(mailing.organization)
  const template = compiled(mailing)
  let size = MIN_BURST
  for (const end = Date.now() + SLICE_MS; Date.now() < end && !slice.signal.aborted; ) {
    const now = await mailings.findOne({ _id: mailing._id, state: 'sending' }, { projection: current })
    if (!now) return 'done'
    const startedAt = Date.now()
    const burst = await openBurst(context, { ...mailing, ...now }, template, size)
    if ('waitMs' in burst) return Math.min(burst.waitMs, MAX_WAIT_MS)
    const waitMs = await sendBurst(context, burst, slice)
    if (waitMs > 0) return Math.min(waitMs, context.config.MAIL_RETRY_MS)
    size = nextSize(size, Date.now() - startedAt)
  }
  return 'again'
}

function nextSize(size: number, tookMs: number): number {
  if (tookMs < BURST_MS / 2) return Math.min(MAX_BURST, size * 2)
  return tookMs > BURST_MS ? Math.max(MIN_BURST, Math.floor(size / 2)) : size
}

/** Ends the mails that were being handed over: this replica has the lease and none at hand, so it was another process. */
async function failInterrupted({ store, collections }: Context, { _id, organization }: Mailing, slice: LeaseSlice) {
  const { mails, mailings } = collections.of(organization)
  for (;;) {
    const found: Mail[] = await mails.find({ campaign: _id, status: 'queued' }, { limit: RECOVERED_AT_ONCE })
    if (found.length === 0) return
    const at = new Date()
    await store.transaction(async tx => {
      await slice.fence(tx)
      const ids = found.map(mail => mail._id)
      const end = { status: 'failed', error: UNKNOWN, finishedAt: at }
      const update = { $set: end, $push: { steps: { type: 'failed', at, detail: UNKNOWN } } }
      const { modifiedCount } = await mails.updateMany({ _id: { $in: ids }, status: 'queued' }, update, { tx })
      if (modifiedCount !== ids.length) throw new Error('mails that nobody sends have changed')
      const counted = { 'counts.failed': ids.length, 'counts.waiting': -ids.length }
      await mailings.updateOne({ _id }, { $inc: counted }, { tx })
      await addEvents(
        tx,
        found.map(mail => mailEvent(mail, 'failed', at, UNKNOWN)),
      )
    })
  }
}

/** Lets the recipients that a cancelled mailing left waiting expire, like messages that have ended. */
async function release({ collections }: Context, { _id, organization }: Mailing): Promise<Outcome> {
  const { mails, mailings } = collections.of(organization)
  await mails.updateMany(
    { campaign: _id, status: 'waiting' },
    { $set: { finishedAt: new Date() } },
    { timestamps: false },
  )
  await mailings.updateOne({ _id }, { $set: { isReleased: true } }, { timestamps: false })
  return 'done'
}
