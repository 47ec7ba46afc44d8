import { parentPort } from 'node:worker_threads'
import { type ColumnPattern, compilePattern, matchesText } from './column-pattern.ts'
import { MAYBE, NO, YES } from './outcome.ts'

/** Texts of a dictionary, and the pattern that they are matched with. */
export type PatternQuestion = { id: number; pattern: ColumnPattern; text: string; ends: Uint32Array }
/** An outcome for each text. */
export type PatternAnswer = { id: number; outcomes: Uint8Array }

/** The last machine: a search has many row groups. */
let last: { key: string; machine: ReturnType<typeof compilePattern> } | undefined

parentPort!.on('message', ({ id, pattern, text, ends }: PatternQuestion) => {
  const bytes = Buffer.from(text, 'latin1')
  const key = JSON.stringify(pattern)
  if (last?.key !== key) last = { key, machine: compilePattern(pattern) }
  const { machine } = last
  let start = 0
  const outcomes = Uint8Array.from(ends, end => {
    const matches = matchesText(machine, pattern, bytes.toString('utf8', start, end))
    start = end
    return matches === undefined ? MAYBE : matches ? YES : NO
  })
  parentPort!.postMessage({ id, outcomes } satisfies PatternAnswer)
})
