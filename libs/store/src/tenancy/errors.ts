import { AppError } from '@rollcall/contract'
import { Error as MongooseErrors, mongo } from 'mongoose'

const DUPLICATE_KEY = 11000
const MAX_TIME_EXPIRED = 50

/** Whether something failed because a unique index already holds the value. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof AppError ? error.code === 'record.duplicate' : codeOf(error) === DUPLICATE_KEY
}

/** Whether the whole transaction may run again: it met another one, or the server went away before the commit. */
export function isTransient(error: unknown): boolean {
  return error instanceof mongo.MongoError && error.hasErrorLabel('TransientTransactionError')
}

/** An error that makes the transaction it is thrown in begin again. */
function restart(cause: unknown): Error {
  const error = new mongo.MongoError('the transaction begins again', { cause: cause as Error })
  error.addErrorLabel('TransientTransactionError')
  return error
}

/** For writes that create what another transaction may create at once: the later one begins again, and finds it. */
export function startAgain(error: unknown): never {
  throw isDuplicate(error) ? restart(error) : error
}

/** Whether the server gave up a read because its time was over: here, or in the refusal that came of it. */
export function isOutOfTime(error: unknown): boolean {
  return codeOf(error) === MAX_TIME_EXPIRED || (error instanceof AppError && codeOf(error.cause) === MAX_TIME_EXPIRED)
}

/** Whether the database could not be reached or did not answer in time. */
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
      (error.hasErrorLabel('RetryableWriteError') || error.name === 'MongoWaitQueueTimeoutError'))
  )
}

/**
 * The refusal that an error of the database means: `duplicate` with the field of the index, `invalid_field` for a value
 * the schema cannot hold, `unavailable` where the database is away. Every other error comes back as it is.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (isDuplicate(error)) return new AppError('record.duplicate', { path: duplicatePath(error) }, { cause: error })
  if (error instanceof MongooseErrors.CastError) return invalid(error.path, error)
  if (error instanceof MongooseErrors.ValidationError) return invalid(Object.keys(error.errors)[0] ?? 'body', error)
  if (isAway(error) || isOutOfTime(error)) return new AppError('service.unavailable', {}, { cause: error })
  return error
}

/** Runs one operation of the database; what it throws is what `toStoreError` makes of it. */
export async function mapped<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    throw isTransient(error) ? error : toStoreError(error) // a transaction has to know its own kind of failure
  }
}

function invalid(path: string, cause: Error): AppError {
  return new AppError('request.invalid_field', { path: path === '_id' ? 'id' : path }, { cause })
}

/** Bulk writes wrap whatever stopped them. */
function withoutWrapping(error: unknown): unknown {
  return error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error
    ? error.errorResponse
    : error
}

function codeOf(error: unknown): unknown {
  return error instanceof mongo.MongoError ? error.code : undefined
}

/**
 * The field a unique index is about: its last one that is not the organization. A field `emailKey` is `email` as it is
 * compared, so the client hears of `email`.
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
