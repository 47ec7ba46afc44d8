import { AppError } from '@rollcall/contract'
import type { Logger } from '@rollcall/runtime'
import { type ClientSession, type Connection, type ConnectOptions, type Model, Mongoose, type Schema } from 'mongoose'
import { isUnavailable, translateErrors } from './errors.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { watchSessions } from './orphans.ts'
import { limitReads, type ReadLimitOptions, readLimitsOf } from './read-limits.ts'
import { runTransaction, type TransactionOptions } from './transaction.ts'

/** Where a service's database is and how patient to be with it. */
export type StoreOptions = {
  /** MongoDB connection string; its database name does not matter. */
  url: string
  /** The service's own database. */
  dbName: string
  /** Name of the client in the server's log and its list of operations. Default: `rollcall`. */
  appName?: string
  logger: Logger
  /** Connections at most. Default 50. */
  poolSize?: number
  /** How long one operation, or one transaction with its retries, may take. Default 15,000. */
  timeoutMs?: number
  /** How much of lists is read at once. */
  reads?: ReadLimitOptions
}

/** A service's database. */
export type Store = {
  connection: Connection
  /** Declares a collection; indexes are made by `migrate`. Asked again for a name, it answers the same model. */
  model<T>(name: string, schema: Schema<T>): Model<T>
  /**
   * Runs `work` as one transaction and retries it after a conflict. So `work` may run several times and must have no effect
   * outside the database. Throws `record.duplicate` at a unique index, `service.unavailable` at the time limit.
   */
  transaction<T>(work: (session: ClientSession) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Runs reads that see every write that was answered before the call, even while a replaced primary still answers. Give
   * them the session and `readConcern: 'majority'`. Costs one round trip to a majority. Throws `service.unavailable` if no
   * majority confirms the primary in time.
   */
  readLatest<T>(read: (session: ClientSession) => Promise<T>): Promise<T>
  /** Rejects if the database cannot be used now. For the readiness check. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** How long a majority may take to confirm the primary. */
const CONFIRM_MS = 2000
/** `readyState` of a connection with a server. Mongoose exports its names only for CommonJS. */
const CONNECTED = 1

const stores = new WeakMap<ClientSession, Connection>()

/** Returns the connection of a transaction of `Store.transaction`. */
export function connectionOf(session: ClientSession): Connection {
  const connection = stores.get(session)
  if (!connection) throw new Error('the session does not come from Store.transaction')
  return connection
}

const effects = new WeakMap<ClientSession, Set<() => void>>()

/** Calls `effect` once when the transaction is committed, however often it asks for that; not if it is rolled back. */
export function afterCommit(tx: ClientSession, effect: () => void): void {
  effects.get(tx)?.add(effect)
}

/** Connects a service to its database; rejects with `service.unavailable` if it stays unreachable for `timeoutMs`. */
export async function connectStore(options: StoreOptions): Promise<Store> {
  const { url, dbName, appName = 'rollcall', logger, poolSize = 50, timeoutMs = 15_000, reads } = options
  // An instance of its own, so that these settings apply to this store only.
  const mongoose = new Mongoose({ strict: 'throw', strictQuery: 'throw', autoIndex: false, autoCreate: false })
  const connection = mongoose.createConnection()
  const settings: ConnectOptions = {
    dbName,
    appName,
    maxPoolSize: poolSize,
    bufferCommands: false,
    serverSelectionTimeoutMS: Math.min(timeoutMs, 5000),
    connectTimeoutMS: Math.min(timeoutMs, 5000),
    waitQueueTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs, // the driver's timeoutMS has no effect; this ends a wait for a lock that is never released
    retryReads: true,
    retryWrites: true,
    // Whatever the URL says: transactions and credentials need the primary, and answered writes must survive a failover.
    readPreference: 'primary',
    readConcernLevel: 'local',
    w: 'majority',
  }
  connection.on('error', error => logger.error({ err: error }, 'database connection failed'))
  let closing = false
  connection.on('disconnected', () => {
    if (!closing) logger.warn('database disconnected')
  })
  await openConnection(connection, url, settings, Date.now() + timeoutMs)
  const { msg } = await translateErrors(connection.db!.command({ hello: 1 }))
  const transactionReads = msg === 'isdbgrid' ? 'snapshot' : 'majority' // a mongos, or a replica set
  readLimitsOf(connection, reads)
  const inQueue = createKeyedMutex()
  const watch = watchSessions(connection, logger)

  const transaction: Store['transaction'] = async (work, { timeoutMs: limitMs = timeoutMs, queue = [] } = {}) => {
    const deadline = Date.now() + limitMs
    const run = async () => {
      if (Date.now() >= deadline) throw new AppError('service.unavailable', {}, { cause: new Error('waited too long') })
      const session = await translateErrors(connection.startSession())
      try {
        await watch.begin(session)
        stores.set(session, connection)
        const attempt = (tx: ClientSession) => {
          effects.set(tx, new Set())
          return work(tx)
        }
        const result = await runTransaction(session, attempt, deadline, transactionReads)
        for (const effect of effects.get(session) ?? []) effect()
        return result
      } finally {
        watch.end(session, isLeftOpen(session))
        await session.endSession()
      }
    }
    return inQueue([queue].flat(), run)
  }

  /** Whether the server may still have a transaction open: the driver does not say whether an abort reached it. */
  const isLeftOpen = (session: ClientSession) => session.serverSession.isDirty || connection.readyState !== CONNECTED

  const readLatest: Store['readLatest'] = async read => {
    const session = await translateErrors(connection.startSession({ causalConsistency: true }))
    try {
      // A majority confirms the primary of this read. Its cluster time is the least that later reads of the session may see.
      const confirmation = { session, readConcern: 'linearizable', maxTimeMS: CONFIRM_MS } as const
      await translateErrors(connection.collection<{ _id: string }>('leases').findOne({ _id: 'none' }, confirmation))
      return await read(session)
    } finally {
      await session.endSession()
    }
  }

  return {
    connection,
    // Not a plugin of the instance: Mongoose leaves those out of a schema that another instance has compiled before.
    model: <T>(name: string, schema: Schema<T>) =>
      (connection.models[name] as Model<T> | undefined) ??
      connection.model<T>(name, schema.plugin(limitReads, { deduplicate: true })),
    transaction,
    readLatest,
    ping: async () => void (await translateErrors(connection.db!.command({ ping: 1 }))),
    close: async () => {
      closing = true
      await watch.stop()
      await connection.close()
    },
  }
}

/** Opens a connection, again until the deadline if the server cannot be reached. */
async function openConnection(connection: Connection, url: string, settings: ConnectOptions, deadline: number) {
  for (;;) {
    try {
      return await translateErrors(connection.openUri(url, settings))
    } catch (error) {
      if (isUnavailable(error) && Date.now() < deadline) continue
      await connection.close(true).catch(() => undefined)
      throw error
    }
  }
}
