import { setImmediate as nextTurn } from 'node:timers/promises'

/** A repeatable source of random numbers. */
export type Random = {
  chance(probability: number): boolean
  below(count: number): number
  pick<T>(items: readonly T[]): T
}

/** Creates a random source (mulberry32); the same seed gives the same numbers. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return { below, chance: probability => next() < probability, pick: items => items[below(items.length)]! }
}

/** A process. After it dies, no step returns to it. `disturbed`: one of its steps has failed. */
export type Process = { name: string; alive: boolean; disturbed: boolean }

/** Creates a healthy process. */
export function createProcess(name: string): Process {
  return { name, alive: true, disturbed: false }
}

type Site = 'redis' | 'database'
type Outcome = 'done' | 'lost' | 'unanswered' | 'late' | 'crash'
type Step = {
  process: Process
  site: Site
  label: string
  effect: () => unknown
  resolve: (answer: unknown) => void
  reject: (error: Error) => void
}

/** Chooses the next of the waiting steps, and its outcome. */
export type Scheduler = {
  /** Queues a step of a process, an operation on another system. */
  step<T>(process: Process, site: Site, label: string, effect: () => T | Promise<T>): Promise<T>
  /** Runs one waiting step, and its process up to the next step. */
  playOne(): Promise<void>
  readonly waiting: number
  /** While set, no step reaches Redis. */
  redisAway: boolean
  /** Probability that a step fails. */
  faultiness: number
}

const faults: readonly Outcome[] = ['lost', 'unanswered', 'late', 'crash']
const ignore = () => {}

/**
 * Creates a scheduler. Each step waits for a random time, so that all interleavings can occur. A failed step is lost,
 * done without an answer, abandoned and done later (a command still in a socket), or kills its process.
 */
export function createScheduler(random: Random, trace: (line: string) => void): Scheduler {
  const steps: Step[] = []

  const takeStep = () => steps.splice(random.below(steps.length), 1)[0]!
  const orphan = (step: Step) => steps.push({ ...step, resolve: ignore, reject: ignore })

  const outcomeOf = ({ process, site }: Step): Outcome => {
    if (site === 'redis' && scheduler.redisAway) return 'lost'
    if (!process.alive) return random.chance(0.5) ? 'done' : 'lost'
    return random.chance(scheduler.faultiness) ? random.pick(faults) : 'done'
  }

  const play = async (step: Step, outcome: Outcome) => {
    const outage = new Error('outage')
    if (outcome !== 'done') step.process.disturbed = true
    if (outcome === 'crash') step.process.alive = false
    if (outcome === 'crash' || outcome === 'late') orphan(step)
    if (outcome === 'done' || outcome === 'unanswered') {
      try {
        const answer = await step.effect()
        trace(`  -> ${JSON.stringify(answer)}`)
        if (outcome === 'done' && step.process.alive) step.resolve(answer)
      } catch (error) {
        if (step.process.alive) step.reject(error as Error)
      }
    }
    if (outcome !== 'done' && step.process.alive) step.reject(outage)
  }

  const scheduler: Scheduler = {
    redisAway: false,
    faultiness: 0,
    step: <T>(process: Process, site: Site, label: string, effect: () => T | Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        steps.push({ process, site, label, effect, resolve: answer => resolve(answer as T), reject })
      }),
    async playOne() {
      const step = takeStep()
      const outcome = outcomeOf(step)
      trace(`${step.process.name} ${step.label}: ${outcome}`)
      await play(step, outcome)
      await nextTurn()
    },
    get waiting() {
      return steps.length
    },
  }
  return scheduler
}
