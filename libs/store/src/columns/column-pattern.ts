import { RE2JS } from 're2js'

/** A pattern as columns match it. */
export type ColumnPattern = {
  /** In the syntax of RE2. */
  source: string
  ignoresCase: boolean
  /** The text, if the pattern is plain text. */
  literal: string | undefined
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
  const isPlain = units.every(unit => /^\\[^a-z0-9]$/iu.test(unit) || /^[^\\[\](){}*+?|^$.]$/u.test(unit))
  const source = units
    .map(unit => unit.replace(/^\{(\d+),256\}$/, '{$1,}').replace(/\\([^\p{ASCII}])/gu, '$1'))
    .join('')
  const pattern = {
    source,
    ignoresCase,
    literal: isPlain ? units.map(unit => unit.replace(/^\\/, '')).join('') : undefined,
    unsure: { lineEnd: units.includes('$'), nonAscii: units.some(unit => /^\\b$/i.test(unit)) },
  }
  try {
    compilePattern(pattern)
    return pattern
  } catch {
    return undefined
  }
}

/** Compiles a pattern for a state machine, which takes time in proportion to the text. */
export function compilePattern({ source, ignoresCase }: Pick<ColumnPattern, 'source' | 'ignoresCase'>): RE2JS {
  return RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0)
}

/** Whether a text contains what a pattern describes; undefined if servers disagree on it. */
export function matchesText(
  machine: RE2JS,
  { unsure }: Pick<ColumnPattern, 'unsure'>,
  text: string,
): boolean | undefined {
  if (unsure.lineEnd && text.endsWith('\n')) return undefined
  if (unsure.nonAscii && /[^\p{ASCII}]/u.test(text)) return undefined
  return machine.test(text)
}
