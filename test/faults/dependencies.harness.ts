import { pause } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { isSoak } from '../soak.ts'
import type { ReplicaSetMode } from './replica-set.ts'

/** A request with its expected answer. Any answer but that or 503 is wrong. */
export type Probe = { name: string; right: number; ask(signal: AbortSignal): Promise<number> }

/** A dependency that can fail: a link to it, or a replica set. */
export type Dependency = { become(mode: ReplicaSetMode): void | Promise<void> }

/** A product under test: its probes, and its dependencies. */
export type Subject = { probes: readonly Probe[]; links: Readonly<Record<string, Dependency>>; deadlineMs: number }

/** A fault: a dependency, and how it fails. */
export type Fault = { link: string; mode: Exclude<ReplicaSetMode, 'open'> }

/** The effect of a fault. Times are in milliseconds. */
export type Outcome = Fault & {
  right: number
  unavailable: number
  /** Other answers, and requests without an answer in time. */
  violations: string[]
  slowestMs: number
  /** Time from the end of the fault until every probe succeeds; null if that takes too long. */
  recoveryMs: number | null
}

/** One before the product notices the fault, one after. */
const ROUNDS = isSoak ? 3 : 2
const RECOVERY_MS = 5000
/** Tolerance for the machine, in addition to the 10 % of the goal. */
const SLACK_MS = 800

/** Runs all probes during a fault and after it. A slow machine gets more tolerance and time to recover. */
export async function inject(subject: Subject, fault: Fault): Promise<Outcome> {
  const outcome: Outcome = { ...fault, right: 0, unavailable: 0, violations: [], slowestMs: 0, recoveryMs: null }
  const link = subject.links[fault.link]
  if (!link) throw new Error(`no link to ${fault.link}`)
  await link.become(fault.mode)
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(subject.probes.map(probe => judge(probe, subject.deadlineMs, outcome)))
  }
  await link.become('open')
  const { ms, failing } = await recovery(subject)
  outcome.recoveryMs = failing.length === 0 ? ms : null
  outcome.violations.push(...failing.map(answer => `not recovered after ${Math.round(ms)} ms: ${answer}`))
  return outcome
}

async function judge(probe: Probe, deadlineMs: number, outcome: Outcome): Promise<void> {
  const startedAt = performance.now()
  const status = await probe
    .ask(AbortSignal.timeout(Math.ceil(deadlineMs * 1.1) + scaledTimeout(SLACK_MS)))
    .catch(() => null)
  const ms = performance.now() - startedAt
  outcome.slowestMs = Math.max(outcome.slowestMs, ms)
  if (status === probe.right) outcome.right++
  else if (status === 503) outcome.unavailable++
  else outcome.violations.push(status === null ? `${probe.name}: no answer` : `${probe.name}: ${status}`)
}

/** Asks until every probe succeeds, or for long enough. Returns the time taken, and the last answers that were not right. */
async function recovery({ probes, deadlineMs }: Subject): Promise<{ ms: number; failing: string[] }> {
  const startedAt = performance.now()
  for (;;) {
    const answers = await Promise.all(
      probes.map(async ({ name, ask, right }) => {
        const status = await ask(AbortSignal.timeout(deadlineMs)).catch(() => 'no answer')
        return status === right ? [] : [`${name}: ${status}`]
      }),
    )
    const ms = performance.now() - startedAt
    const failing = answers.flat()
    if (failing.length === 0 || ms > scaledTimeout(RECOVERY_MS)) return { ms, failing }
    await pause(100)
  }
}

/** Formats the effect of a fault as a line of a table. */
export function tableLine({ link, mode, right, unavailable, violations, slowestMs, recoveryMs }: Outcome): string {
  const recovered = recoveryMs === null ? 'not recovered' : `recovered in ${(recoveryMs / 1000).toFixed(1)} s`
  const answers = `${right} right, ${unavailable} unavailable, ${violations.length} wrong`
  return `R5  ${link.padEnd(12)} ${mode.padEnd(15)}  ${answers}, slowest ${(slowestMs / 1000).toFixed(1)} s, ${recovered}`
}
