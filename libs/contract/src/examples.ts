import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A request of the test suite that succeeded, and its answer. */
export type Example = {
  /** Values of the path variables, in order. */
  path: readonly string[]
  /** Parameters of a query, as given to the SDK. */
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  /** JSON, or the first lines of a file. */
  answer: unknown
}

/** Examples by call: contacts.list. */
export type Examples = Readonly<Record<string, Example>>

/** Where `npm run record` writes the examples. */
export const examplesFile = join(import.meta.dirname, '..', 'examples.json')

/** Reads the examples that test/sdk recorded. */
export function readExamples(): Examples {
  return JSON.parse(readFileSync(examplesFile, 'utf8'))
}
