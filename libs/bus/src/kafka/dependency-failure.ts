/** Names, codes and driver labels of errors of an unavailable database, cache or service. */
const NAME =
  /^(TimeoutError|MaxRetriesPerRequestError|Mongo(ose)?(Network|ServerSelection|ServerClosed|NotConnected|OperationTimeout|PoolCleared|StalePrimary|WriteConcern)\w*)$/
const CODES = new Set<unknown>([
  'service.unavailable',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
])
const LABELS = ['TransientTransactionError', 'RetryableWriteError', 'UnknownTransactionCommitResult']

/** Whether an error, or its cause, means that a dependency is unavailable, so that a later retry can succeed. */
export function isDependencyFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errorLabels = [] } = error as { code?: unknown; errorLabels?: readonly string[] }
  return (
    NAME.test(error.name) ||
    CODES.has(code) ||
    LABELS.some(label => errorLabels.includes(label)) ||
    isDependencyFailure(error.cause)
  )
}
