import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Document, Long } from 'bson'
import { connectUpstream, createControl, type Upstream } from './client.ts'
import { type ErrorName, refusal } from './errors.ts'
import { sessionOf, type Transaction, trackTransactions } from './transactions.ts'
import { type Index, indexOf, uniqueValuesOf } from './unique-values.ts'
import { applicationOf, type Command, commandOf, messageOf, onMessages, replyOf, withBody, withReply } from './wire.ts'

/** How the server behaves. All of it may change while it runs. */
export type Behaviour = {
  /** Delay of each command before it runs. */
  latencyMs: number
  /** From a write on the primary to the same write on a majority of the nodes. */
  majorityMs: number
  /** Lifetime of a transaction (`transactionLifetimeLimitSeconds`). */
  lifetimeMs: number
  /** Every n-th write of transactions conflicts, but none in a transaction that retries after such a conflict. 0: none. */
  conflictEvery: number
  /** How many of the next commits the server makes and then breaks the connection instead of replying. */
  unknownCommits: number
}

/** Options of `startMongod`. */
export type MongodOptions = Partial<Behaviour> & {
  /** URL of a MongoDB server, or of one that stands in. */
  target: string
  /** Whether clients of an application name are the subject: observed, and given the conflicts of `conflictEvery`. Default: all. */
  isSubject?: (application: string) => boolean
  /** Receives each command of the subject, with the indexes of its collection. */
  observe?: (command: Command, indexes: readonly Index[]) => void
}

/** A proxy that behaves like a primary of mongod. */
export type Mongod = {
  /** The target's URL, with the address of the proxy. */
  url: string
  /** A URL by which drivers discover a replica set of this primary alone, and wait for it in an election. */
  replicaSetUrl: string
  behaviour: Behaviour
  /**
   * Steps down: aborts transactions, interrupts what is running, refuses writes. The returned function ends it, if it does
   * not end after `ms`.
   */
  stepDown(ms?: number): Promise<() => void>
  /**
   * Answers reads of collections ("database.collection") as they are now, like a primary that was replaced and does not
   * know. What needs a majority waits: writes, and reads that are linearizable or wait for a newer cluster time.
   * The returned function ends it.
   */
  becomeStale(collections: readonly string[]): Promise<() => void>
  stop(): Promise<void>
}

/** A client's connection. */
type Client = { upstream: Upstream; isSubject: boolean }

type Operation = { command: Command; isSent: boolean; interrupt(error: ErrorName): void }

const WRITES = ['insert', 'update', 'delete', 'findAndModify']
const READS = ['find', 'aggregate', 'count', 'distinct']
const HELLO = ['hello', 'ismaster', 'isMaster']
/** Commands that a secondary runs too. */
const OF_ANY_NODE = ['ping', 'buildInfo', 'killSessions', 'endSessions', 'getMore', 'killCursors']
const CHANGES_INDEXES = ['createIndexes', 'dropIndexes', 'drop', 'dropDatabase', 'collMod']
/** Wait of a plain write that met an open transaction: `logAndBackoff` has 1 ms, then 5, then 10. */
const RETRY_MS = 5
/** Replies of reads above this size are not decoded: errors are small. */
const ERROR_BYTES = 4096

const DEFAULTS: Behaviour = { latencyMs: 0, majorityMs: 0, lifetimeMs: 60_000, conflictEvery: 0, unknownCommits: 0 }

/**
 * Starts a proxy that gives a server of MongoDB's wire protocol the semantics and the faults of mongod, as far as
 * SecantusDB lacks them: conflicts of updated unique values, `maxTimeMS`, lifetime and interruption of transactions,
 * elections, the delay of a majority. Transactions of a client that disconnects stay open, as on mongod. Only
 * `dropDatabase` aborts those of its database, because SecantusDB would wait for them without end.
 *
 * Sources, in github.com/mongodb/mongo `src/mongo/db`: handleError in `write_ops_exec.cpp`, `_checkDups` in
 * `wiredtiger_index.cpp`, `error_labels.cpp`, `error_codes.yml`; for what a step-down ends, the manual of
 * `replSetStepDown`.
 */
export async function startMongod(options: MongodOptions): Promise<Mongod> {
  const { target, isSubject = () => true, observe, ...initial } = options
  const address = addressOf(target)
  const behaviour: Behaviour = { ...DEFAULTS, ...initial }
  const control = createControl(address)
  const operations = new Set<Operation>()
  const sockets = new Set<Socket>()
  const indexes = new Map<string, Promise<readonly Index[]>>()
  const stale = new Set<string>()
  /** Databases that were dropped. What still runs on them sees no indexes. */
  const dropped = new Set<string>()
  let isSteppedDown = false
  let transactionalWrites = 0

  const transactions = trackTransactions(
    () => behaviour.lifetimeMs,
    transaction => {
      interrupt('TransactionExceededLifetimeLimitSeconds', ({ command }) => sessionOf(command) === transaction.session)
      void abort(transaction, 'aborted').catch(ignore)
    },
  )

  /** Returns the reply to a message; undefined if there is none. */
  async function answer(message: Buffer, client: Client): Promise<Buffer | undefined> {
    const { upstream } = client
    const command = commandOf(message)
    if (command?.isSilent) return void upstream.socket.write(message)
    if (!command || HELLO.includes(command.name)) {
      const application = applicationOf(message)
      if (application !== undefined) client.isSubject = isSubject(application)
      return withReply(await upstream.exchange(message), asPrimary)
    }
    if (observe && client.isSubject && command.collection && !dropped.has(command.database))
      void indexesOf(command).then(known => observe(command, known), ignore)
    const transaction = transactions.of(command)
    const error = await admit(command, transaction, client)
    if (error) return messageOf(refusal(command, error), { responseTo: command.requestId })
    return run(command, transaction, upstream)
  }

  /** Returns the error that refuses a command before it runs. */
  async function admit(
    command: Command,
    transaction: Transaction | undefined,
    { isSubject }: Client,
  ): Promise<ErrorName | undefined> {
    if (isSteppedDown && !runsOnSecondary(command)) return 'NotWritablePrimary'
    if (command.name === 'killSessions') endSessions(command.body.killSessions)
    if (command.name === 'dropDatabase') await abandon(command.database)
    if (!WRITES.includes(command.name)) return undefined
    if (!transaction) return void (await whileHeld(command))
    const isMadeUp = isSubject && behaviour.conflictEvery > 0 && ++transactionalWrites % behaviour.conflictEvery === 0
    if (isMadeUp && !transaction.isSpared) return refuseAndAbort(transaction, 'conflicted')
    const values = await valuesOf(command, transaction)
    if (!transactions.isOpen(transaction)) return 'NoSuchTransaction' // aborted meanwhile
    return transactions.hold(transaction, values) ? undefined : refuseAndAbort(transaction, 'aborted')
  }

  async function refuseAndAbort(transaction: Transaction, how: 'conflicted' | 'aborted'): Promise<ErrorName> {
    await abort(transaction, how)
    return 'WriteConflict'
  }

  /** Waits like a plain write of mongod until no transaction holds its unique values. */
  async function whileHeld(command: Command): Promise<void> {
    if (transactions.open().length === 0) return
    const values = await valuesOf(command)
    while (transactions.isHeld(values)) await sleep(RETRY_MS)
  }

  /** Runs a command, unless or until it is interrupted. */
  async function run(
    command: Command,
    transaction: Transaction | undefined,
    upstream: Upstream,
  ): Promise<Buffer | undefined> {
    const interruption = Promise.withResolvers<ErrorName>()
    const operation: Operation = { command, isSent: false, interrupt: interruption.resolve }
    operations.add(operation)
    const { maxTimeMS } = command.body
    const timer = maxTimeMS > 0 && setTimeout(() => interruption.resolve('MaxTimeMSExpired'), Number(maxTimeMS))
    const interrupted = interruption.promise.then(error => {
      // An error ends the transaction, but a commit goes on.
      if (transaction && command.name !== 'commitTransaction') void abort(transaction, 'aborted').catch(ignore)
      return messageOf(refusal(command, error), { responseTo: command.requestId })
    })
    try {
      return await Promise.race([perform(operation, transaction, upstream), interrupted])
    } finally {
      operations.delete(operation)
      clearTimeout(timer || undefined)
    }
  }

  async function perform(operation: Operation, transaction: Transaction | undefined, upstream: Upstream) {
    const { command } = operation
    if (stale.has(namespaceOf(command)) && !readOldState(command)) await forever()
    if (behaviour.latencyMs > 0) await sleep(behaviour.latencyMs)
    if (!operations.has(operation)) return undefined // interrupted meanwhile
    operation.isSent = true
    const replied = upstream.exchange(command.message)
    if (transaction) transaction.running = replied.catch(ignore)
    const message = await replied
    if (CHANGES_INDEXES.includes(command.name)) indexes.clear()
    if (transaction) settle(command, transaction, message)
    return behaviour.majorityMs > 0 && waitsForMajority(command) ? replicated(command, message) : message
  }

  /** Notes what the reply means for the transaction: its end, or none. */
  function settle({ name }: Command, transaction: Transaction, message: Buffer): void {
    const isRead = !WRITES.includes(name) && !name.endsWith('Transaction')
    if (isRead && message.length > ERROR_BYTES) return
    const { ok, writeErrors } = replyOf(message)
    if (name === 'commitTransaction' && ok) transactions.end(transaction, 'committed')
    else if (name === 'abortTransaction' || !ok || writeErrors) transactions.end(transaction, 'aborted')
  }

  /** Replies when a majority has the state, or with an error at the write concern's timeout. */
  async function replicated({ body }: Command, message: Buffer): Promise<Buffer> {
    const timeoutMs = Number(body.writeConcern?.wtimeout ?? Number.POSITIVE_INFINITY)
    await sleep(Math.min(behaviour.majorityMs, timeoutMs))
    if (timeoutMs >= behaviour.majorityMs) return message
    const writeConcernError = { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting for replication timed out' }
    return withReply(message, reply => ({ ...reply, writeConcernError }))
  }

  /** Aborts, once the server has done what it has got of the transaction. */
  async function abort(transaction: Transaction, how: 'conflicted' | 'aborted'): Promise<void> {
    transactions.end(transaction, how)
    await transaction.running
    const { id, number } = transaction
    const inTransaction = { lsid: { id }, txnNumber: Long.fromNumber(number), autocommit: false }
    await control.command({ abortTransaction: 1, ...inTransaction, $db: 'admin' })
  }

  function abandon(database: string): Promise<void> {
    dropped.add(database)
    return abortAll(({ databases }) => databases.has(database))
  }

  async function abortAll(which: (transaction: Transaction) => boolean): Promise<void> {
    await Promise.all(
      transactions
        .open()
        .filter(which)
        .map(open => abort(open, 'aborted').catch(ignore)),
    )
  }

  function interrupt(error: ErrorName, which: (operation: Operation) => boolean): void {
    for (const operation of operations) if (which(operation)) operation.interrupt(error)
  }

  function endSessions(sessions: readonly Document[]): void {
    const killed = sessions.map(({ id }) => id.toString('hex'))
    interrupt('Interrupted', ({ command }) => killed.includes(sessionOf(command)))
    for (const open of transactions.open()) if (killed.includes(open.session)) transactions.end(open, 'aborted')
  }

  function indexesOf({ database, collection }: Command): Promise<readonly Index[]> {
    const name = `${database}.${collection}`
    const known = indexes.get(name)
    if (known) return known
    const asked = control
      .command({ listIndexes: collection, cursor: { batchSize: 1000 }, $db: database })
      .then(({ cursor }) => (cursor?.firstBatch ?? []).map(indexOf))
    indexes.set(name, asked)
    asked.catch(() => indexes.delete(name)) // the server was away
    return asked
  }

  async function valuesOf(command: Command, transaction?: Transaction): Promise<string[]> {
    return uniqueValuesOf(command, await indexesOf(command), (filter, limit) => {
      const read = readFor(command, filter, limit)
      if (transaction) transaction.running = read.catch(ignore)
      return read
    })
  }

  /** Reads as the command would. The first read of a transaction starts it instead of its command. */
  async function readFor(command: Command, filter: Document, limit: number): Promise<Document[]> {
    const { lsid, txnNumber, autocommit, startTransaction, readConcern } = command.body
    const inTransaction = autocommit === false && {
      lsid,
      txnNumber: Long.fromNumber(txnNumber),
      autocommit,
      ...(startTransaction && { startTransaction, readConcern }),
    }
    if (inTransaction && startTransaction) {
      command.message = withBody(command, ({ startTransaction: _, readConcern: __, ...body }) => body)
      command.body.startTransaction = undefined
    }
    const { cursor } = await control.command({
      find: command.collection,
      filter,
      limit,
      batchSize: 1_000_000,
      ...inTransaction,
      $db: command.database,
    })
    return cursor?.firstBatch ?? []
  }

  /** Turns a read to the old state; false if the command needs a majority. */
  function readOldState(command: Command): boolean {
    const { level, afterClusterTime } = command.body.readConcern ?? {}
    if (!READS.includes(command.name) || level === 'linearizable' || afterClusterTime) return false
    command.message = withBody(command, body => ({ ...body, [command.name]: oldStateOf(command.collection) }))
    return true
  }

  function asPrimary(hello: Document): Document {
    const { topologyVersion: _, primary: __, ...rest } = hello // without a version the driver polls
    if (!rest.setName) return rest
    const member = { ...rest, hosts: [own], me: own }
    const primary = { ...member, primary: own }
    return isSteppedDown ? { ...member, isWritablePrimary: false, ismaster: false, secondary: true } : primary
  }

  const server = createServer({ noDelay: true }, socket => {
    const upstream = connectUpstream(address)
    for (const end of [socket, upstream.socket]) {
      sockets.add(end)
      end.once('close', () => sockets.delete(end))
    }
    serve(socket, upstream)
  })

  function serve(socket: Socket, upstream: Upstream): void {
    const client = { upstream, isSubject: isSubject('') }
    let last: Promise<unknown> = Promise.resolve()
    const reply = async (message: Buffer) => {
      const bytes = await answer(message, client)
      const isLost = behaviour.unknownCommits > 0 && commandOf(message)?.name === 'commitTransaction'
      if (isLost) behaviour.unknownCommits--
      if (isLost) socket.destroy()
      else if (bytes) socket.write(bytes)
    }
    onMessages(socket, message => {
      last = last.then(() => reply(message)).catch(() => socket.destroy())
    })
    socket.on('error', () => {})
    socket.on('close', () => upstream.socket.end())
    upstream.socket.on('close', () => socket.destroy())
  }

  server.listen(0, LOCALHOST)
  await once(server, 'listening')
  const own = `${LOCALHOST}:${(server.address() as AddressInfo).port}`
  const { setName } = await control.command({ hello: 1, $db: 'admin' })

  return {
    url: target.replace(`${address.host}:${address.port}`, own),
    replicaSetUrl: `mongodb://${own}/?replicaSet=${setName}`,
    behaviour,
    async stepDown(ms) {
      isSteppedDown = true
      interrupt('InterruptedDueToReplStateChange', ({ command, isSent }) => {
        const isWrite = WRITES.includes(command.name) // one that was sent is done before the step-down
        return command.body.autocommit === false || (isWrite && !isSent)
      })
      await abortAll(() => true)
      const stepUp = () => {
        isSteppedDown = false
      }
      if (ms !== undefined) setTimeout(stepUp, ms)
      return stepUp
    },
    async becomeStale(collections) {
      for (const name of collections) {
        const [database, collection] = name.split(/\.(.*)/) as [string, string]
        const pipeline = [{ $out: oldStateOf(collection) }]
        await control.command({ aggregate: collection, pipeline, cursor: {}, $db: database })
        stale.add(name)
      }
      return () => {
        for (const name of collections) stale.delete(name)
        interrupt(
          'InterruptedDueToReplStateChange',
          ({ command, isSent }) => !isSent && collections.includes(namespaceOf(command)),
        )
      }
    },
    async stop() {
      const closed = once(server, 'close') // it may close while transactions are aborted
      server.close()
      await abortAll(() => true)
      control.stop()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const LOCALHOST = '127.0.0.1'

/** For errors of a server that is gone. */
const ignore = () => undefined

const forever = () => new Promise<never>(() => {})

const oldStateOf = (collection: string) => `${collection}.old`

const namespaceOf = ({ database, collection }: Command) => `${database}.${collection}`

function runsOnSecondary({ name, body }: Command): boolean {
  const mode = body.$readPreference?.mode ?? 'primary'
  return OF_ANY_NODE.includes(name) || (READS.includes(name) && mode !== 'primary' && body.autocommit !== false)
}

/** Whether the command's reply says something of a majority. Writes do by default, since MongoDB 5.0. */
function waitsForMajority({ name, body }: Command): boolean {
  if (name === 'commitTransaction') return true
  if (body.autocommit === false) return false
  if (WRITES.includes(name)) return (body.writeConcern?.w ?? 'majority') === 'majority'
  return READS.includes(name) && ['majority', 'linearizable'].includes(body.readConcern?.level)
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port || 27017) }
}
