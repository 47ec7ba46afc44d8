import { RE2JS, RE2Set } from 're2js'

/** A pattern as columns match it. */
export type ColumnPattern = {
  /** In the syntax of RE2. */
  source: string
  ignoresCase: boolean
  /** The text, if the pattern is plain text; `isPrefix` of one that texts begin with. */
  literal: string | undefined
  isPrefix: boolean
  /** Texts that servers disagree on: those that end in a line break, those with characters beyond ASCII. */
  unsure: { lineEnd: boolean; nonAscii: boolean }
}

/** Units of a pattern: an escape, a class, an open-ended quantifier as `readPattern` bounds it, anything else. */
const UNITS = /\\.|\[(?:\\.|[^\]\\])*\]|\{\d+,256\}|./gsu

/**
 * Translates the pattern of a checked filter; undefined if RE2 does not know it. Columns hold texts of 256 bytes at most:
 * there a quantifier that reaches 256 characters is the same as one without an end, which takes few states.
 */
export function columnPattern(given: string, ignoresCase: boolean): ColumnPattern | undefined {
  const units: string[] = given.match(UNITS) ?? []
  const isPrefix = units[0] === '^'
  const parts = isPrefix ? units.slice(1) : units
  const isPlain = parts.every(unit => /^\\[^a-z0-9]$/iu.test(unit) || /^[^\\[\](){}*+?|^$.]$/u.test(unit))
  const source = units
    .map(unit => unit.replace(/^\{(\d+),256\}$/, '{$1,}').replace(/\\([^\p{ASCII}])/gu, '$1'))
    .join('')
  const pattern = {
    source,
    ignoresCase,
    literal: isPlain ? parts.map(unit => unit.replace(/^\\/, '')).join('') : undefined,
    isPrefix,
    unsure: { lineEnd: units.includes('$'), nonAscii: units.some(unit => /^\\b$/i.test(unit)) },
  }
  try {
    compile(pattern)
    return pattern
  } catch {
    return undefined
  }
}

/** Finds the patterns that match a text, by their numbers, in time in proportion to the text. */
export type PatternFinder = (text: string) => readonly number[]

/** Compiles patterns to one state machine: a text is read once, however many they are. */
export function compilePatterns(patterns: readonly ColumnPattern[]): PatternFinder {
  const [first, ...others] = patterns
  if (first && others.length === 0) {
    const [found, none] = [[0], []]
    const machine = compile(first) // sooner than a set of one, since it stops at the end of the match
    return text => (machine.test(text) ? found : none)
  }
  const set = new RE2Set()
  for (const { source, ignoresCase } of patterns) set.add(ignoresCase ? `(?i:${source})` : source)
  return text => set.match(text)
}

/** Whether servers disagree if a text matches. */
export function isUnsure({ unsure }: ColumnPattern, text: string): boolean {
  return (unsure.lineEnd && text.endsWith('\n')) || (unsure.nonAscii && !isAscii(text))
}

/** Whether a text has only characters of ASCII. */
export function isAscii(text: string): boolean {
  return !/[^\p{ASCII}]/u.test(text)
}

function compile({ source, ignoresCase }: Pick<ColumnPattern, 'source' | 'ignoresCase'>): RE2JS {
  return RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0)
}
