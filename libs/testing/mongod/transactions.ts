import type { Command } from './wire.ts'

/** An open transaction of a session. */
export type Transaction = {
  /** Its session's id as text, and as it came. */
  session: string
  id: unknown
  number: number
  /** Commits before its first command. */
  snapshot: number
  values: Set<string>
  databases: Set<string>
  /** What the server last got to do in it. */
  running: Promise<unknown>
  lifetime: NodeJS.Timeout
  /** Whether no conflict is made up in it, because it retries after one. */
  isSpared: boolean
}

/** The transactions that are open, and the unique values that they hold. */
export type Transactions = {
  /** Returns the transaction of a command; undefined outside of one. */
  of(command: Command): Transaction | undefined
  open(): readonly Transaction[]
  isOpen(transaction: Transaction): boolean
  /** Whether another open transaction holds one of the values. */
  isHeld(values: readonly string[], by?: Transaction): boolean
  /** Holds values until the end; false if another one holds them, or committed them after its snapshot. */
  hold(transaction: Transaction, values: readonly string[]): boolean
  end(transaction: Transaction, how: 'committed' | 'aborted' | 'conflicted'): void
}

/** Tracks transactions. Calls `expire` for one that is open for longer than `lifetimeMs()`. */
export function trackTransactions(lifetimeMs: () => number, expire: (transaction: Transaction) => void): Transactions {
  const bySession = new Map<string, Transaction>()
  const holders = new Map<string, Transaction>()
  const committed = new Map<string, number>()
  /** Sessions whose last transaction ended with a conflict that was made up. */
  const conflicted = new Set<string>()
  let commits = 0

  const start = (id: { toString(encoding: 'hex'): string }, number: number): Transaction => {
    const session = id.toString('hex')
    const transaction: Transaction = {
      session,
      id,
      number,
      snapshot: commits,
      values: new Set(),
      databases: new Set(),
      running: Promise.resolve(),
      lifetime: setTimeout(() => expire(transaction), lifetimeMs()).unref(),
      isSpared: conflicted.delete(session),
    }
    bySession.set(session, transaction)
    return transaction
  }

  const end: Transactions['end'] = (transaction, how) => {
    if (bySession.get(transaction.session) !== transaction) return
    bySession.delete(transaction.session)
    clearTimeout(transaction.lifetime)
    if (how === 'conflicted') conflicted.add(transaction.session)
    if (how === 'committed') commits++
    for (const value of transaction.values) {
      holders.delete(value)
      if (how === 'committed') committed.set(value, commits)
    }
    if (bySession.size === 0) committed.clear() // no snapshot is older
  }

  const transactionOf = (command: Command): Transaction | undefined => {
    const { lsid, txnNumber, startTransaction } = command.body
    const open = bySession.get(sessionOf(command)!)
    if (open?.number === Number(txnNumber)) return open
    if (open) end(open, 'aborted') // a newer transaction of a session ends the older one
    return startTransaction ? start(lsid.id, Number(txnNumber)) : undefined
  }

  const isHeld: Transactions['isHeld'] = (values, by) => values.some(value => (holders.get(value) ?? by) !== by)

  return {
    of(command) {
      const transaction = command.body.autocommit === false ? transactionOf(command) : undefined
      transaction?.databases.add(command.database)
      return transaction
    },
    open: () => [...bySession.values()],
    isOpen: transaction => bySession.get(transaction.session) === transaction,
    isHeld,
    hold(transaction, values) {
      if (isHeld(values, transaction)) return false
      if (values.some(value => (committed.get(value) ?? 0) > transaction.snapshot)) return false
      for (const value of values) {
        holders.set(value, transaction)
        transaction.values.add(value)
      }
      return true
    },
    end,
  }
}

/** Returns the session of a command as text. */
export function sessionOf({ body }: Command): string | undefined {
  return body.lsid?.id.toString('hex')
}
