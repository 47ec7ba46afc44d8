import type { Document } from 'bson'
import type { Command } from './wire.ts'

/** Errors of mongod by name; codes from `src/mongo/base/error_codes.yml`. */
const ERRORS = {
  MaxTimeMSExpired: [50, 'operation exceeded time limit'],
  WriteConflict: [112, 'Caused by :: Write conflict during plan execution and yielding is disabled.'],
  TransactionExceededLifetimeLimitSeconds: [
    290,
    'operation was interrupted because the transaction exceeded the limit',
  ],
  NoSuchTransaction: [251, 'the transaction has been aborted'],
  NotWritablePrimary: [10107, 'not primary'],
  Interrupted: [11601, 'operation was interrupted'],
  InterruptedDueToReplStateChange: [11602, 'operation was interrupted'],
} as const

/** The name of an error of mongod. */
export type ErrorName = keyof typeof ERRORS

/** The category RetriableError. */
const RETRIABLE: readonly ErrorName[] = ['NotWritablePrimary', 'InterruptedDueToReplStateChange']

/** Returns the reply that refuses a command, with the labels that mongod gives the error. */
export function refusal(command: Command, name: ErrorName): Document {
  const [code, errmsg] = ERRORS[name]
  const errorLabels = labelsOf(command, name)
  return { ok: 0, errmsg, code, codeName: name, ...(errorLabels.length > 0 && { errorLabels }) }
}

/** As `ErrorLabelBuilder` of mongod's `src/mongo/db/error_labels.cpp`. */
function labelsOf({ name, body }: Command, error: ErrorName): string[] {
  const isTransaction = body.autocommit === false
  const isEnd = name === 'commitTransaction' || name === 'abortTransaction'
  const isTransient =
    error === 'WriteConflict' || error === 'NoSuchTransaction' || (RETRIABLE.includes(error) && !isEnd)
  if (isTransaction && isTransient) return ['TransientTransactionError']
  const isRetryable = body.txnNumber !== undefined && (!isTransaction || isEnd)
  return isRetryable && RETRIABLE.includes(error) ? ['RetryableWriteError'] : []
}
