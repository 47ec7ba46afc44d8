import { parentPort } from 'node:worker_threads'
import { type ColumnPattern, compilePatterns, isAscii, isUnsure, type PatternFinder } from './column-pattern.ts'
import { MAYBE, NO, YES } from './outcome.ts'

/** Texts of a dictionary, and the patterns that they are matched with. */
export type PatternQuestion = { id: number; patterns: readonly ColumnPattern[]; text: string; ends: Uint32Array }
/** For each pattern an outcome for each text. */
export type PatternAnswer = { id: number; outcomes: Uint8Array[] }

/** The last machine: a search has many row groups. */
let last: { key: string; find: PatternFinder } | undefined

parentPort!.on('message', ({ id, patterns, text, ends }: PatternQuestion) => {
  const key = JSON.stringify(patterns)
  if (last?.key !== key) last = { key, find: compilePatterns(patterns) }
  const { find } = last
  const outcomes = patterns.map(() => new Uint8Array(ends.length).fill(NO))
  const textBetween = reader(text)
  let start = 0
  ends.forEach((end, index) => {
    const value = textBetween(start, end)
    for (const number of find(value)) outcomes[number]![index] = YES
    patterns.forEach((pattern, number) => {
      if (isUnsure(pattern, value)) outcomes[number]![index] = MAYBE
    })
    start = end
  })
  parentPort!.postMessage({ id, outcomes } satisfies PatternAnswer)
})

/** Reads texts out of bytes that are each a character. */
function reader(text: string): (start: number, end: number) => string {
  if (isAscii(text)) return (start, end) => text.slice(start, end)
  const bytes = Buffer.from(text, 'latin1')
  return (start, end) => bytes.toString('utf8', start, end)
}
