import { type Logger, pause } from '@rollcall/runtime'
import { type ClientSession, type Connection, type mongo, Types } from 'mongoose'
import { mapped } from './errors.ts'

/** Sees to it that no transaction outlives its process for long. */
export type SessionWatch = {
  /** Writes a session down before its first transaction: should this process die, the others can end it. */
  note(session: ClientSession): Promise<void>
  stop(): Promise<void>
}

type SessionId = mongo.Binary
type Process = { _id: Types.ObjectId; beat: number; sessions: SessionId[] }

const BEAT_MS = 750
const STOP_PATIENCE_MS = 1000
/** A process is dead when it gave no sign of life between so many looks. Looks are counted, for clocks differ and stop. */
const MISSED_LOOKS = 4

/**
 * A process killed inside a transaction leaves its locks behind until the server gives up on it, a minute later on
 * MongoDB; whoever wants the same record fails until then. So each process writes down its sessions, gives signs of life,
 * and ends the sessions of those that give none any more. To end those of a process that only slept does no harm: its
 * transactions begin again.
 */
export function watchSessions(connection: Connection, logger: Logger): SessionWatch {
  const processes = connection.collection<Process>('processes')
  const self = new Types.ObjectId()
  const sessions = new Map<string, SessionId>()
  const others = new Map<string, { beat: number; missed: number }>()
  const stopping = new AbortController()
  let beat = 0

  const giveSign = async () => {
    if (sessions.size === 0) return
    const sign = { beat: ++beat, sessions: [...sessions.values()] }
    await mapped(processes.updateOne({ _id: self }, { $set: sign }, { upsert: true }))
  }

  const isDead = ({ _id, beat }: Process): boolean => {
    const last = others.get(String(_id))
    const missed = last?.beat === beat ? last.missed + 1 : 0
    others.set(String(_id), { beat, missed })
    return missed >= MISSED_LOOKS
  }

  const bury = async ({ _id, beat, sessions }: Process) => {
    // An empty list would mean every session there is.
    const ids = sessions.map(id => ({ id }))
    if (ids.length > 0) await connection.db!.admin().command({ killSessions: ids })
    await processes.deleteOne({ _id, beat })
    others.delete(String(_id))
    logger.warn({ process: String(_id), sessions: ids.length }, 'ended the transactions of a process that died')
  }

  const look = async () => {
    for (const process of await processes.find({ _id: { $ne: self } }).toArray()) {
      if (isDead(process)) await bury(process)
    }
  }

  const watch = async () => {
    for (;;) {
      await pause(BEAT_MS, stopping.signal)
      if (stopping.signal.aborted) return
      await giveSign()
        .then(look)
        .catch(() => undefined) // with the database away nobody takes a lock or misses a sign
    }
  }

  const watching = watch()

  return {
    async note(session) {
      const id = session.id?.id as SessionId | undefined
      const key = id?.toString('hex')
      if (!id || !key || sessions.has(key)) return
      sessions.set(key, id)
      await giveSign()
    },
    async stop() {
      stopping.abort()
      const forget = watching.then(() => processes.deleteOne({ _id: self })).catch(() => undefined)
      await Promise.race([forget, pause(STOP_PATIENCE_MS)]) // otherwise the others see to it
    },
  }
}
