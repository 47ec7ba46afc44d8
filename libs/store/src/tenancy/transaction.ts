import { AppError } from '@rollcall/contract'
import { backoffMs, pause } from '@rollcall/runtime'
import { type ClientSession, mongo } from 'mongoose'
import { isInterrupted, isRetriedSoon, isTransient, restart, toStoreError } from './errors.ts'

/** Options of a transaction. */
export type TransactionOptions = {
  /** Time limit for starting attempts and commits; then `service.unavailable` is thrown. Default: the store's. */
  timeoutMs?: number
  /**
   * Transactions of one process with the same queue run one after another. For transactions that write the same document
   * (a counter, a parent) and would conflict; several queues for several documents. Waiting counts as time of the
   * transaction.
   */
  queue?: string | readonly string[]
}

/**
 * All reads of a transaction see one snapshot. With `majority` it is the newest, which a retry needs: with `snapshot` it can
 * be from before the transaction that it conflicted with. Across shards only `snapshot` is one moment.
 */
export type TransactionReadConcern = 'majority' | 'snapshot'

const CONTENTION = { baseMs: 4, maxMs: 64 }
/** About as long as another transaction holds a contended document. Does not grow: waiting longer only loses turns. */
const SOON_MS = 2

/**
 * Runs `work` in a transaction of the session and commits it. Retries after transient errors until the deadline (epoch
 * milliseconds). An error of `work` aborts the transaction.
 *
 * Not the driver's `withTransaction`: its limit is fixed at 120 seconds (`timeoutMS` has no effect), which is longer than any
 * request lives, and it retries a commit without a pause.
 */
export async function runTransaction<T>(
  session: ClientSession,
  work: (session: ClientSession) => Promise<T>,
  deadline: number,
  readConcern: TransactionReadConcern = 'majority',
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(session, work, deadline, readConcern)
    } catch (error) {
      const waitMs = isRetriedSoon(error) ? SOON_MS + Math.random() * SOON_MS : backoffMs(attempt, CONTENTION)
      if (!isTransient(error)) throw toStoreError(error)
      if (Date.now() + waitMs >= deadline) throw new AppError('service.unavailable', {}, { cause: error })
      await pause(waitMs)
    }
  }
}

async function attemptOnce<T>(
  session: ClientSession,
  work: (session: ClientSession) => Promise<T>,
  deadline: number,
  level: TransactionReadConcern,
): Promise<T> {
  const maxCommitTimeMS = Math.max(1, deadline - Date.now())
  session.startTransaction({ readConcern: { level }, writeConcern: { w: 'majority' }, maxCommitTimeMS })
  try {
    const result = await work(session).catch(error => {
      throw isInterrupted(error) ? restart(error) : error
    })
    if (Date.now() >= deadline)
      throw new AppError('service.unavailable', {}, { cause: new Error('transaction took too long') })
    await commit(session, deadline)
    return result
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction().catch(() => undefined) // the server aborts it after its own timeout
    throw error
  }
}

/**
 * Commits. A commit with an unknown outcome is sent again: the server answers with the outcome of the first one, or that
 * there is no such transaction.
 */
async function commit(session: ClientSession, deadline: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await session.commitTransaction()
    } catch (error) {
      const unknown = error instanceof mongo.MongoError && error.hasErrorLabel('UnknownTransactionCommitResult')
      if (!(unknown || isInterrupted(error)) || isTransient(error) || Date.now() >= deadline) throw error
      await pause(backoffMs(attempt, CONTENTION))
    }
  }
}
