import { type Logger, pause } from '@rollcall/runtime'
import { type ClientSession, type Connection, mongo, Types } from 'mongoose'
import { translateErrors } from './errors.ts'
import { READ_MS } from './read-limits.ts'

/** Ends the transactions of processes that died. */
export type SessionWatch = {
  /** Records a session before a transaction, so that other processes can end it if this one dies. `end` has to follow. */
  begin(session: ClientSession): Promise<void>
  /** Notes that it is over. A transaction that may still be open on the server is ended there, once it can be reached. */
  end(session: ClientSession, isLeftOpen?: boolean): void
  stop(): Promise<void>
}

type SessionId = mongo.Binary
type Process = { _id: Types.ObjectId; beat: number; sessions: SessionId[] }

const HEARTBEAT_MS = 1500
/** Without a transaction for this time, a process is idle. */
const IDLE_AFTER_MS = 4 * HEARTBEAT_MS
const STOP_TIMEOUT_MS = 1000
/** A process is dead after this many checks without a heartbeat. Checks are counted because clocks differ and stop. */
const MISSED_CHECKS = 2
/** Codes of a server that refuses `killSessions`: unauthorized, no such command, not in this tier of Atlas. */
const REFUSALS: ReadonlySet<unknown> = new Set([13, 59, 8000])

/**
 * A process that is killed in a transaction leaves its locks until the server times out, a minute later on MongoDB; writes of
 * the same record fail until then. So each process records its sessions, sends heartbeats, and ends the sessions of
 * processes whose heartbeats stop. A process that was only suspended retries its transactions.
 *
 * A living process leaves locks too: where the connection breaks in a transaction, the driver drops the session and the server
 * keeps the transaction. The process ends such sessions itself.
 *
 * A process that is idle holds no locks and waits for none: it removes its record, and does nothing until its next
 * transaction. One that starts is not idle, because it may replace one that died.
 *
 * Slow heartbeats do not make a process dead: they wait for the primary only, and a process whose own heartbeat was slow
 * forgets the missed ones.
 */
export function watchSessions(connection: Connection, logger: Logger): SessionWatch {
  const processes = connection.db!.collection<Process>('processes', { writeConcern: { w: 1 } })
  const self = new Types.ObjectId()
  const sessions = new Map<string, SessionId>()
  const abandoned = new Map<string, SessionId>()
  const others = new Map<string, { beat: number; missed: number }>()
  const stopping = new AbortController()
  let beat = 0
  let last = Promise.resolve()
  let next: Promise<void> | undefined
  let underWay = 0
  let idleAt = performance.now() + IDLE_AFTER_MS
  let isRecorded = false
  let removed: Promise<unknown> = Promise.resolve()
  let isRefused = false

  const writeHeartbeat = async () => {
    next = undefined
    const heartbeat = { beat: ++beat, sessions: [...sessions.values()] }
    await translateErrors(processes.updateOne({ _id: self }, { $set: heartbeat }, { upsert: true }))
    isRecorded = true
  }

  /** One at a time: an older one that arrives later would remove sessions from the record. Those that wait share the next. */
  const sendHeartbeat = (): Promise<void> => {
    next ??= last = last.then(writeHeartbeat, writeHeartbeat)
    return next
  }

  const isIdle = () => underWay === 0 && abandoned.size === 0 && performance.now() > idleAt

  /** A record that cannot be removed is one of a dead process to others, who end its idle sessions. */
  const rest = async () => {
    others.clear()
    if (!isRecorded) return
    isRecorded = false
    removed = processes.deleteOne({ _id: self }).catch(() => undefined)
    await removed
  }

  const isDead = ({ _id, beat }: Process): boolean => {
    const last = others.get(String(_id))
    const missed = last?.beat === beat ? last.missed + 1 : 0
    others.set(String(_id), { beat, missed })
    return missed >= MISSED_CHECKS
  }

  const reap = async ({ _id, beat, sessions }: Process) => {
    if (sessions.length > 0) await endSessions(sessions) // an empty list would end every session
    await processes.deleteOne({ _id, beat })
    others.delete(String(_id))
    logger.warn({ process: String(_id), sessions: sessions.length }, 'ended the transactions of a dead process')
  }

  const endSessions = async (sessions: SessionId[]) => {
    try {
      await connection.db!.admin().command({ killSessions: sessions.map(id => ({ id })) })
    } catch (error) {
      if (!(error instanceof mongo.MongoServerError && REFUSALS.has(error.code))) throw error
      if (!isRefused)
        logger.warn({ err: error }, 'killSessions refused, locks of dead processes last until the server’s limit')
      isRefused = true
    }
  }

  const endAbandoned = async () => {
    if (abandoned.size === 0) return
    const ending = [...abandoned]
    await endSessions(ending.map(([, id]) => id))
    for (const [key] of ending) {
      abandoned.delete(key)
      sessions.delete(key)
    }
  }

  const reapDead = async () => {
    for (const process of await processes.find({ _id: { $ne: self } }, { maxTimeMS: READ_MS }).toArray()) {
      if (isDead(process)) await reap(process)
    }
  }

  const check = async () => {
    if (isIdle()) return rest()
    await endAbandoned()
    const startedAt = performance.now()
    await sendHeartbeat()
    if (performance.now() - startedAt < HEARTBEAT_MS) await reapDead()
    else others.clear() // their heartbeats are slow too
  }

  const watch = async () => {
    for (;;) {
      await pause(HEARTBEAT_MS, stopping.signal)
      if (stopping.signal.aborted) return
      await check().catch(() => undefined) // while the database is down nobody holds a lock or misses a heartbeat
    }
  }

  const watching = watch()

  return {
    async begin(session) {
      underWay++
      const id = idOf(session)
      const key = id?.toString('hex')
      if (!id || !key || (isRecorded && sessions.has(key))) return
      sessions.set(key, id)
      await removed // a removal that arrives later would remove the new record
      await sendHeartbeat().catch(error => {
        sessions.delete(key)
        throw error
      })
    },
    end(session, isLeftOpen = false) {
      underWay--
      idleAt = performance.now() + IDLE_AFTER_MS
      const id = idOf(session)
      if (id && isLeftOpen) abandoned.set(id.toString('hex'), id)
    },
    async stop() {
      stopping.abort()
      const forget = watching.then(async () => {
        await endAbandoned()
        await processes.deleteOne({ _id: self })
      })
      await Promise.race([forget.catch(() => undefined), pause(STOP_TIMEOUT_MS)]) // otherwise other processes reap it
    },
  }
}

function idOf(session: ClientSession): SessionId | undefined {
  return session.id?.id as SessionId | undefined
}
