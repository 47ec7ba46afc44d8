import { AppError } from '@rollcall/contract'
import { Error as MongooseErrors, mongo } from 'mongoose'

const DUPLICATE_KEY = 11000
const MAX_TIME_EXPIRED = 50
const INTERRUPTED = 11601
/**
 * Codes of servers without a primary, that shut down or run out of time: the driver's list of retryable reads
 * (`RETRYABLE_READ_ERROR_CODES`), those of a mongos that reaches no shard, write concern timeouts and expired transactions.
 */
const AWAY: ReadonlySet<unknown> = new Set([
  6, 7, 64, 89, 91, 133, 134, 189, 202, 262, 290, 9001, 10107, 11600, 11602, 13435, 13436,
])
/** Labels of servers that are away, or shed load. */
const AWAY_LABELS = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError']

/** Whether a unique index refused a duplicate value. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof AppError ? error.code === 'record.duplicate' : codeOf(error) === DUPLICATE_KEY
}

/** Whether the transaction may be retried: it conflicted with another one, or the server changed before the commit. */
export function isTransient(error: unknown): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel('TransientTransactionError')
}

/** Whether the refusal says that the database cannot be reached, or was too slow. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'service.unavailable'
}

/** Whether `killSessions` ended the command. In a transaction, it ended the transaction too, but the error has no label. */
export function isInterrupted(error: unknown): boolean {
  return codeOf(error) === INTERRUPTED
}

/** An error that makes its transaction retry. */
export function restart(cause: unknown): Error {
  const error = new mongo.MongoError('the transaction is retried', { cause: cause as Error })
  error.addErrorLabel('TransientTransactionError')
  return error
}

/** Handles the error of a write that another transaction may make too: a duplicate retries, and then finds the record. */
export function retryTransaction(error: unknown): never {
  throw isDuplicate(error) ? restart(error) : error
}

const SOON = 'RetrySoon'

/** Handles a conflict in the first command of a transaction: nothing is lost, so the retry need not wait long. */
export function retrySoon(error: unknown): never {
  if (isTransient(error)) (error as mongo.MongoError).addErrorLabel(SOON)
  throw error
}

/** Whether `retrySoon` handled the error. */
export function isRetriedSoon(error: unknown): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel(SOON)
}

/** Whether the server ended a read at its time limit. Accepts the driver's error or the refusal made from it. */
export function isOutOfTime(error: unknown): boolean {
  return codeOf(error) === MAX_TIME_EXPIRED || (error instanceof AppError && codeOf(error.cause) === MAX_TIME_EXPIRED)
}

/** Whether the database is unreachable or did not answer in time. */
export function isAway(thrown: unknown): boolean {
  const error = withoutWrapping(thrown)
  return (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoOperationTimeoutError ||
    error instanceof mongo.MongoNotConnectedError ||
    error instanceof mongo.MongoClientClosedError ||
    error instanceof mongo.MongoWriteConcernError ||
    error instanceof MongooseErrors.MongooseServerSelectionError ||
    (error instanceof mongo.MongoError &&
      (AWAY.has(error.code) ||
        AWAY_LABELS.some(label => error.hasErrorLabel(label)) ||
        error.name === 'MongoWaitQueueTimeoutError'))
  )
}

/** Whether a read lost its server and may be retried: what the driver retries. */
export function isRetryableRead(error: unknown): boolean {
  return error instanceof mongo.MongoNetworkError || AWAY.has(codeOf(error))
}

/**
 * Translates a database error: `record.duplicate` with the field of the index, `request.invalid_field` for a value that
 * the schema cannot hold, `service.unavailable` if the database is down. Returns every other error unchanged.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (isDuplicate(error)) return new AppError('record.duplicate', { path: duplicatePath(error) }, { cause: error })
  if (error instanceof MongooseErrors.CastError) return invalid(error.path, error)
  if (error instanceof MongooseErrors.ValidationError) return invalid(Object.keys(error.errors)[0] ?? 'body', error)
  if (isAway(error) || isOutOfTime(error)) return new AppError('service.unavailable', {}, { cause: error })
  return error
}

/** Awaits a database operation and translates its error with `toStoreError`. */
export async function translateErrors<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    throw isTransient(error) ? error : toStoreError(error) // the transaction retries it
  }
}

function invalid(path: string, cause: Error): AppError {
  return new AppError('request.invalid_field', { path: path === '_id' ? 'id' : path }, { cause })
}

/** The cause of a failed bulk write, which wraps it. */
function withoutWrapping(error: unknown): unknown {
  return error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error
    ? error.errorResponse
    : error
}

function codeOf(error: unknown): unknown {
  return error instanceof mongo.MongoError ? error.code : undefined
}

/**
 * Returns the public field of a unique index: its last field that is not the organization. `emailKey` is the comparable
 * form of `email`, so the client sees `email`.
 */
function duplicatePath(error: unknown): string {
  const { keyPattern, message } = error as { keyPattern?: Record<string, unknown>; message: string }
  const named = keyPattern ? Object.keys(keyPattern) : indexFields(message)
  return (named.filter(field => field !== 'organization').at(-1) ?? 'id').replace(/Key$/, '').replace(/^_id$/, 'id')
}

/** Errors of bulk writes carry no key pattern; the index's name, made of its fields, stands in their text. */
function indexFields(message: string): string[] {
  const name = /index: (\S+)/.exec(message)?.[1] ?? ''
  return name === '_id_' ? ['_id'] : name.split(/_-?1(?:_|$)/).filter(Boolean)
}
