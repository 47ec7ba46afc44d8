import { Worker } from 'node:worker_threads'
import type { Column } from './column.ts'
import { type ColumnPattern, isAscii } from './column-pattern.ts'
import { NO, YES } from './outcome.ts'
import type { PatternAnswer, PatternQuestion } from './pattern-worker.ts'

type Texts = Pick<Column, 'text' | 'ends'>

/** Finds which texts of a dictionary match patterns. */
export type PatternMatcher = {
  /** Returns for each pattern an outcome for each text. */
  match(patterns: readonly ColumnPattern[], texts: Texts): Promise<Uint8Array[]>
}

/**
 * Creates a matcher. Plain text is searched at once, which takes a fraction of a millisecond. Other patterns run in a
 * thread of their own, so that requests do not wait for them, and read each text once.
 */
export function createPatternMatcher(): PatternMatcher {
  const waiting = new Map<number, PromiseWithResolvers<Uint8Array[]>>()
  let worker: Worker | undefined
  let next = 0

  const failAll = (error: Error) => {
    worker = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  const start = (): Worker => {
    const started = new Worker(new URL('./pattern-worker.ts', import.meta.url))
    started.on('message', ({ id, outcomes }: PatternAnswer) => {
      waiting.get(id)?.resolve(outcomes)
      waiting.delete(id)
      if (waiting.size === 0) started.unref() // an idle thread does not keep the process alive
    })
    started.on('error', failAll)
    started.on('exit', code => failAll(new Error(`the thread of patterns ended with ${code}`)))
    return started
  }

  const run = (patterns: readonly ColumnPattern[], { text, ends }: Texts): Promise<Uint8Array[]> => {
    worker ??= start()
    worker.ref()
    const id = next++
    const answer = Promise.withResolvers<Uint8Array[]>()
    waiting.set(id, answer)
    worker.postMessage({ id, patterns, text, ends } satisfies PatternQuestion)
    return answer.promise
  }

  return {
    async match(patterns, texts) {
      const outcomes = patterns.map(pattern => searchLiteral(pattern, texts))
      const others = patterns.filter((_, number) => !outcomes[number])
      const ofOthers = others.length > 0 ? await run(others, texts) : []
      return outcomes.map(found => found ?? ofOthers.shift()!)
    },
  }
}

/** Searches plain text; undefined if a pattern is none, or its letters match others than those of ASCII. */
function searchLiteral(
  { literal, isPrefix, ignoresCase }: ColumnPattern,
  { text, ends }: Texts,
): Uint8Array | undefined {
  if (literal === undefined) return undefined
  const find = isPrefix ? searchStarts : search
  if (!ignoresCase) return find(text, ends, Buffer.from(literal).toString('latin1'))
  return isAscii(literal) && isAscii(text) ? find(text.toLowerCase(), ends, literal.toLowerCase()) : undefined
}

function searchStarts(text: string, ends: Uint32Array, wanted: string): Uint8Array {
  let start = 0
  return Uint8Array.from(ends, end => {
    const isFound = start + wanted.length <= end && text.startsWith(wanted, start)
    start = end
    return isFound ? YES : NO
  })
}

/** Searches texts that follow each other: what lies in two of them is not found. */
function search(text: string, ends: Uint32Array, wanted: string): Uint8Array {
  const outcomes = new Uint8Array(ends.length)
  if (wanted === '') return outcomes.fill(YES)
  outcomes.fill(NO)
  let index = 0
  for (let at = text.indexOf(wanted); at >= 0; ) {
    while (ends[index]! <= at) index++
    const isWithin = at + wanted.length <= ends[index]!
    if (isWithin) outcomes[index] = YES
    at = text.indexOf(wanted, isWithin ? ends[index]! : at + 1)
  }
  return outcomes
}
