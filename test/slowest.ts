import type { TestEvent } from 'node:test/reporters'

const shown = 5

/** Reports the slowest files. In lanes, each file is a suite named after it. */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { name: string; ms: number }[] = []
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0) continue
    files.push({ name: data.name, ms: data.details.duration_ms })
  }
  files.sort((one, other) => other.ms - one.ms)
  yield `\nslowest files\n`
  for (const { name, ms } of files.slice(0, shown)) yield `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`
}
