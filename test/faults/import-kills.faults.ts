import { setTimeout as sleep } from 'node:timers/promises'
import { type AtBatch, isTrial } from './import-kills.wire.ts'

/** A process that can be killed, and restarts by itself. */
export type Victim = { name: string; restart(): Promise<void> }

/** The effect of the kills. */
export type Toll = {
  kills: number
  /** Number of kills by victim and moment. */
  by: Record<string, number>
  /** Applied batches that were sent again, and the maximum after one kill. */
  repeated: number
  mostRepeated: number
  /** Time from a kill to the next answered batch. */
  slowestRecoveryMs: number
}

/** When a victim is killed: before a batch is applied, during that, or after it but before the answer. */
export type Moment = 'after' | 'during' | 'before'
const everyMoment: readonly Moment[] = ['after', 'during', 'before']
/** Maximum batches between two kills. */
const longestPeace = 3
const longestDelayMs = 60

/** A stream of numbers below 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Kills victims at random batches, before, during or after these are applied. Victims restart. */
export function createFaults(victims: readonly Victim[], kills: number, seed: number, moments = everyMoment) {
  const random = randomFrom(seed)
  const toll: Toll = { kills: 0, by: {}, repeated: 0, mostRepeated: 0, slowestRecoveryMs: 0 }
  const applied = new Set<string>()
  let armed = true
  let peace = 1
  let struckAt: number | null = null
  let recovering: Promise<void> = Promise.resolve()
  /** Number of kills when a batch was last sent. */
  const killsBefore = new Map<string, number>()
  /** Number of repeated batches by kill. */
  const repeatedAfter = new Map<number, number>()

  /**
   * A repetition counts for the first kill since the batch was last sent, because later kills may come during recovery.
   */
  const countRepeated = (batch: string): void => {
    const kill = Math.min((killsBefore.get(batch) ?? 0) + 1, toll.kills)
    const count = (repeatedAfter.get(kill) ?? 0) + 1
    repeatedAfter.set(kill, count)
    toll.repeated++
    toll.mostRepeated = Math.max(toll.mostRepeated, count)
  }
  /** Kills at once. The next kill waits until the victim has restarted. */
  const strike = (victim: Victim, moment: string): void => {
    toll.kills++
    const what = `${victim.name} ${moment}`
    toll.by[what] = (toll.by[what] ?? 0) + 1
    struckAt ??= performance.now()
    recovering = victim.restart().then(() => {
      peace = 1 + Math.floor(random() * longestPeace)
      armed = true
    })
    recovering.catch(() => undefined) // reported by settled()
  }
  const atBatch: AtBatch = async (batch, pass) => {
    if (applied.has(batch)) countRepeated(batch)
    killsBefore.set(batch, toll.kills)
    // Victims and moments take turns; the batch and the millisecond are random.
    const victim = victims[toll.kills % victims.length]!
    const moment = moments[(toll.kills + Math.floor(toll.kills / victims.length)) % moments.length]!
    const isPossible = moment !== 'after' || !isTrial(batch)
    const isTime = armed && toll.kills < kills && isPossible && --peace <= 0
    if (!isTime) return answered(batch, pass())
    armed = false
    if (moment === 'before') strike(victim, moment)
    const answer = answered(batch, pass())
    answer.catch(() => undefined) // it fails if its receiver was killed
    if (moment === 'during') await sleep(random() * longestDelayMs)
    if (moment === 'after') await answer.catch(() => undefined)
    if (moment !== 'before') strike(victim, moment)
    return answer
  }
  const answered = async <T>(batch: string, answer: Promise<T>): Promise<T> => {
    const value = await answer
    applied.add(batch)
    if (struckAt !== null) toll.slowestRecoveryMs = Math.max(toll.slowestRecoveryMs, performance.now() - struckAt)
    struckAt = null
    return value
  }
  return { atBatch, toll, settled: () => recovering }
}
