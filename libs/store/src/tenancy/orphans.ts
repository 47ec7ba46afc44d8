import { type Logger, pause } from '@rollcall/runtime'
import { type ClientSession, type Connection, type mongo, Types } from 'mongoose'
import { translateErrors } from './errors.ts'

/** Ends the transactions of processes that died. */
export type SessionWatch = {
  /** Records a session before its first transaction, so that other processes can end it if this one dies. */
  register(session: ClientSession): Promise<void>
  stop(): Promise<void>
}

type SessionId = mongo.Binary
type Process = { _id: Types.ObjectId; beat: number; sessions: SessionId[] }

const HEARTBEAT_MS = 750
const STOP_TIMEOUT_MS = 1000
/** A process is dead after this many checks without a heartbeat. Checks are counted because clocks differ and stop. */
const MISSED_CHECKS = 4

/**
 * A process that is killed in a transaction leaves its locks until the server times out, a minute later on MongoDB; writes of
 * the same record fail until then. So each process records its sessions, sends heartbeats, and ends the sessions of
 * processes whose heartbeats stop. A process that was only suspended retries its transactions.
 */
export function watchSessions(connection: Connection, logger: Logger): SessionWatch {
  const processes = connection.collection<Process>('processes')
  const self = new Types.ObjectId()
  const sessions = new Map<string, SessionId>()
  const others = new Map<string, { beat: number; missed: number }>()
  const stopping = new AbortController()
  let beat = 0

  const sendHeartbeat = async () => {
    if (sessions.size === 0) return
    const heartbeat = { beat: ++beat, sessions: [...sessions.values()] }
    await translateErrors(processes.updateOne({ _id: self }, { $set: heartbeat }, { upsert: true }))
  }

  const isDead = ({ _id, beat }: Process): boolean => {
    const last = others.get(String(_id))
    const missed = last?.beat === beat ? last.missed + 1 : 0
    others.set(String(_id), { beat, missed })
    return missed >= MISSED_CHECKS
  }

  const reap = async ({ _id, beat, sessions }: Process) => {
    // An empty list would end every session.
    const ids = sessions.map(id => ({ id }))
    if (ids.length > 0) await connection.db!.admin().command({ killSessions: ids })
    await processes.deleteOne({ _id, beat })
    others.delete(String(_id))
    logger.warn({ process: String(_id), sessions: ids.length }, 'ended the transactions of a dead process')
  }

  const reapDead = async () => {
    for (const process of await processes.find({ _id: { $ne: self } }).toArray()) {
      if (isDead(process)) await reap(process)
    }
  }

  const watch = async () => {
    for (;;) {
      await pause(HEARTBEAT_MS, stopping.signal)
      if (stopping.signal.aborted) return
      await sendHeartbeat()
        .then(reapDead)
        .catch(() => undefined) // while the database is down nobody holds a lock or misses a heartbeat
    }
  }

  const watching = watch()

  return {
    async register(session) {
      const id = session.id?.id as SessionId | undefined
      const key = id?.toString('hex')
      if (!id || !key || sessions.has(key)) return
      sessions.set(key, id)
      await sendHeartbeat()
    },
    async stop() {
      stopping.abort()
      const forget = watching.then(() => processes.deleteOne({ _id: self })).catch(() => undefined)
      await Promise.race([forget, pause(STOP_TIMEOUT_MS)]) // otherwise other processes reap it
    },
  }
}
