import type { TestEvent } from 'node:test/reporters'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'

type File = { name: string; ms: number }

const SHOWN = 5
/** How long a file may take on a quiet machine. */
const BUDGET_MS = 60_000
/** Files that wait on purpose, and those that drive a browser or the chart's tools. */
const EXEMPT = /^test\/(faults|abuse|chart|console)\/|-flood\.e2e/

/**
 * Reports the files that took longest, and those over their budget. In lanes each file is a suite of its name. It does
 * not fail the run: the load of a machine changes during a run.
 */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: File[] = []
  const late: File[] = []
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0) continue
    const file = { name: data.name, ms: data.details.duration_ms }
    files.push(file)
    if (isLate(file)) late.push(file)
  }
  files.sort((one, other) => other.ms - one.ms)
  yield `\nslowest files\n${files.slice(0, SHOWN).map(lineOf).join('')}`
  if (late.length === 0) return
  yield `\nover the budget of ${BUDGET_MS / 1000} s on a quiet machine\n${late.map(lineOf).join('')}`
}

function isLate({ name, ms }: File): boolean {
  return ms > BUDGET_MS && !EXEMPT.test(name) && ms > scaledTimeout(BUDGET_MS)
}

function lineOf({ name, ms }: File): string {
  return `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`
}
