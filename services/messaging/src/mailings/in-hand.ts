import type { LeaseSlice } from '@rollcall/jobs'
import { pause, retry } from '@rollcall/runtime'
import { LeaseLost } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import { HOLD_MARGIN_MS } from '../mail/hand-over.ts'
import type { Mail } from '../mail/mail.model.ts'
import { CONNECTIONS_EACH } from '../mail/smtp.ts'
import type { Batch } from './batch.ts'
import { type Candidate, endOf, handOver, type Outcome, renderFor, type Sending } from './hand-over-one.ts'
import type { Mailing } from './mailing.model.ts'
import { type Ended, recordEnds } from './record-ends.ts'

/** Mails that are marked and not recorded yet. Each may be unknown after a crash. */
export const MAX_IN_HAND = 2 * CONNECTIONS_EACH
/** Mails are marked together: with fewer free connections than this, the next mark waits for more, but not for long. */
const MARKED_TOGETHER = CONNECTIONS_EACH / 2
const LINGER_MS = 10
const RETRY_WRITE_MS = 500
const MAX_WRITE_MS = 60_000

/** The mails of a mailing that a replica is handing over. */
export type InHand = {
  /** Ids of those that are not recorded yet. */
  taken(): Mail['_id'][]
  /**
   * Begins to hand a batch over. Resolves with how many have begun when all have, or the others may not any more: they keep
   * waiting. Rejects if something could not be recorded.
   */
  begin(sending: Sending, batch: Batch): Promise<number>
  /** Why the sender cannot send at all. */
  pausedReason(): string | undefined
  /** Whether no server answers any more. */
  isDown(): boolean
  /** Resolves when nothing is under way any more. Rejects if something could not be recorded. */
  settle(): Promise<void>
}

/** Creates the hand-overs of one run of the job. */
export function createInHand(context: Context, mailing: Mailing, slice: LeaseSlice): InHand {
  const taken = new Map<string, Mail['_id']>()
  const work = new Set<Promise<unknown>>()
  let sending = 0
  /** The failures to reach a server since the last mail that reached one, and the domains that they are of. */
  let failures = 0
  const failingDomains = new Set<string | undefined>()
  let pausedReason: string | undefined
  let failure: unknown
  let changed = Promise.withResolvers<void>()
  const notify = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const recorder = createRecorder(ends => recordSurely(context, mailing, ends, slice))
  const room = () => Math.min(CONNECTIONS_EACH - sending, MAX_IN_HAND - taken.size)

  const track = (promise: Promise<unknown>): void => {
    work.add(promise)
    void promise.finally(() => work.delete(promise))
  }

  const record = (ended: Ended): void => {
    const { _id } = ended.mail
    taken.set(String(_id), _id)
    const recorded = recorder.add(ended).then(
      () => void taken.delete(String(_id)),
      error => {
        failure ??= error
      },
    )
    track(recorded.then(notify))
  }

  const deliver = async (
    shared: Sending,
    candidate: Candidate,
    { markedAt, ...options }: { rendered: ReturnType<typeof renderFor>[number]; until: number; markedAt: Date },
  ): Promise<void> => {
    const outcome = await handOver(context, shared, candidate, { ...options, signal: slice.signal })
    sending--
    note(outcome)
    const { mail, handOver: to } = candidate
    record({ mail, to: to.to, markedAt, end: outcome.end, ...(outcome.subject !== undefined && outcome) })
    notify()
  }

  const note = ({ unreachable, pausedReason: reason }: Outcome): void => {
    if (unreachable) {
      failures++
      failingDomains.add(unreachable.domain)
    } else {
      failures = 0
      failingDomains.clear()
    }
    pausedReason ??= reason
  }
  /** The servers of one domain say nothing of those of others. */
  const isDown = () => failures >= CONNECTIONS_EACH && (failingDomains.size > 1 || failingDomains.has(undefined))
  const mayBegin = (until: number) =>
    Date.now() < until && !slice.signal.aborted && !failure && pausedReason === undefined && !isDown()
  const untilRoom = async (wanted: number, until: number): Promise<void> => {
    while (room() <= 0 && mayBegin(until)) await changed.promise
    for (let end = Date.now() + LINGER_MS; room() < wanted && Date.now() < end && mayBegin(until); )
      await Promise.race([changed.promise, pause(end - Date.now())])
  }

  return {
    taken: () => [...taken.values()],
    async begin(shared, { chosen, refused, until, release }) {
      for (const { mail, handOver } of refused) record({ mail, to: handOver.to, end: endOf(handOver) })
      const left = [...chosen]
      const begun: Promise<void>[] = []
      while (left.length > 0 && mayBegin(until)) {
        await untilRoom(Math.min(MARKED_TOGETHER, left.length), until)
        if (!mayBegin(until)) break
        const group = left.splice(0, room())
        const contents = renderFor(context, shared, group)
        const markedAt = await mark(context, mailing, group)
        const isLate = Date.now() > until + HOLD_MARGIN_MS // the database took long, and nobody waits for these any more
        for (const [index, candidate] of group.entries()) {
          const { mail, handOver } = candidate
          if (isLate) record({ mail, to: handOver.to, end: { kind: 'waiting', nextTryAt: mail.nextTryAt! } })
          else {
            taken.set(String(mail._id), mail._id)
            sending++
            const delivery = deliver(shared, candidate, { rendered: contents[index]!, until, markedAt })
            begun.push(delivery)
            track(delivery)
          }
        }
      }
      void Promise.all(begun).then(release)
      if (failure) throw failure
      return begun.length
    },
    pausedReason: () => pausedReason,
    isDown,
    async settle() {
      // Also after a failure: what is recorded later would be counted twice.
      while (work.size > 0) await Promise.all(work)
      if (failure) throw failure
    },
  }
}

/**
 * Marks mails as being handed over: from here on nobody sends them again. Each mail is marked once, by one replica, so a
 * replica that has lost its lease gets none. In a transaction, because SecantusDB can hang on a plain `updateMany` that
 * conflicts with one.
 */
async function mark(
  { store, collections }: Context,
  { organization }: Mailing,
  group: readonly Candidate[],
): Promise<Date> {
  const marked = { status: 'queued', markedAt: new Date() } as const
  const waiting = { _id: { $in: group.map(({ mail }) => mail._id) }, status: 'waiting' }
  const work = async (tx: ClientSession) => {
    const { mails } = collections.of(organization, tx)
    const { matchedCount } = await mails.updateMany(waiting, { $set: marked }, { timestamps: false })
    if (matchedCount < group.length) throw new Error('recipients were changed concurrently')
  }
  await store.transaction(work)
  for (const { mail } of group) Object.assign(mail, marked)
  return marked.markedAt
}

/** Records outcomes until the database is available: without that, mails that were sent would be unknown. */
function recordSurely(context: Context, mailing: Mailing, ends: readonly Ended[], slice: LeaseSlice): Promise<void> {
  return retry(() => recordEnds(context, mailing, ends, slice), {
    maxMs: RETRY_WRITE_MS,
    deadline: Date.now() + MAX_WRITE_MS,
    retryable: error => !(error instanceof LeaseLost),
    onRetry: err =>
      context.logger.warn({ err, mailing: String(mailing._id) }, 'outcomes of mails not recorded, retrying'),
  })
}

/** Returns a recorder that writes one group at a time: what ends meanwhile is the next one. */
function createRecorder(write: (ends: readonly Ended[]) => Promise<void>): { add(ended: Ended): Promise<void> } {
  let pending: Ended[] = []
  let next: Promise<void> | undefined
  let last: Promise<unknown> = Promise.resolve()
  return {
    add(ended) {
      pending.push(ended)
      next ??= last.then(() => {
        const group = pending
        pending = []
        next = undefined
        const written = write(group)
        last = written.catch(() => undefined)
        return written
      })
      return next
    },
  }
}
