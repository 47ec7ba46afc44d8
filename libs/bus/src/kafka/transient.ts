/** Errors that say "not now" about a database, a cache or another service: by name, by code, by the driver's label. */
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

/** Whether an error, or what caused it, is about something that is away for now: trying again will help, sooner or later. */
export const isTransient = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const { code, errorLabels = [] } = error as { code?: unknown; errorLabels?: readonly string[] }
  return (
    NAME.test(error.name) ||
    CODES.has(code) ||
    LABELS.some(label => errorLabels.includes(label)) ||
    isTransient(error.cause)
  )
}
