import { Misfit } from './fields.ts'

const MAX_LENGTH = 64
const MAX_REPEATS = 20
/** Bound of an open-ended quantifier: without one, the time grows with the square of the text's length. */
const REACH = 256
/** Cost of an open-ended quantifier; two in a row exceed the limit. */
const REACH_COST = 24
/** Maximum number of ways to try a pattern at one place of a text. */
const MAX_COST = 96

/** A checked pattern. */
export type Pattern = {
  /** Rewritten so that every server reads it alike: `\w`, `\d` and `\s` are ASCII. */
  source: string
  /** The text, if the pattern is plain text. */
  literal?: string
  /** Whether the pattern matches at the beginning only. */
  isPrefix: boolean
}

/**
 * Checks the pattern of a `$regex`. What it finds takes time in proportion to the text: an open-ended quantifier
 * reaches 256 characters, except for the first one of a pattern that begins with `^`. Throws `Misfit` for a pattern
 * that is too long, uses what servers disagree on (look-around, back-references, inline flags), or can be tried in too
 * many ways.
 */
export function readPattern(name: string, pattern: unknown): Pattern {
  const refuse: Refuse = reason => {
    throw new Misfit(`$regex of ${name} ${reason}`)
  }
  if (typeof pattern !== 'string') return refuse('must be text')
  if ([...pattern].length > MAX_LENGTH) refuse(`is longer than ${MAX_LENGTH} characters`)
  const given = tokensOf(pattern)
  if (!given || !compiles(pattern)) return refuse('is not a valid pattern')
  const tokens = withoutMargins(given)
  const { source, cost } = readStructure(tokens, refuse)
  if (!compiles(source)) refuse('is not a valid pattern') // a range that only its rewriting made
  if (cost > MAX_COST) refuse('may take too long: use fewer of * + ? {m,n} and |, or start it with ^')
  const [first, ...others] = tokens
  const isPrefix = first?.text === '^'
  const literal = literalOf(isPrefix ? others : tokens)
  return { source, ...(literal && { literal }), isPrefix }
}

type Refuse = (reason: string) => never
type Kind = 'quantifier' | 'open' | 'close' | 'branch' | 'anchor' | 'class' | 'shorthand' | 'single'
type Token = { kind: Kind; text: string }

const kinds: Record<Kind, string> = {
  quantifier: String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??`,
  open: String.raw`\((?:\?:|(?!\?))`,
  close: String.raw`\)`,
  branch: String.raw`\|`,
  anchor: String.raw`[\^$]|\\[bB]`,
  class: String.raw`\[(?:\^|(?!\^))(?:(?!--|&&|~~)[^\\[\]]|\\[dDwWsSnrt]|\\[^\p{L}\p{N}])+\]`,
  shorthand: String.raw`\\[dDwWsS]`,
  single: String.raw`\\[nrt]|\\[^\p{L}\p{N}]|[^\\[\](){}*+?|^$]`,
}
const anyToken = new RegExp(
  Object.entries(kinds)
    .map(([kind, source]) => `(?<${kind}>${source})`)
    .join('|'),
  'uy',
)

function tokensOf(pattern: string): Token[] | undefined {
  const tokens: Token[] = []
  let end = 0
  for (const { 0: text, groups = {} } of pattern.matchAll(new RegExp(anyToken, 'guy'))) {
    const kind = Object.keys(groups).find(name => groups[name] !== undefined) as Kind
    tokens.push({ kind, text })
    end += text.length
  }
  return end === pattern.length ? tokens : undefined
}

/** A pattern finds the same records, sooner, with no more than the least of what is repeated at its ends. */
function withoutMargins(tokens: readonly Token[]): readonly Token[] {
  const atStart = least(tokens, 0)
  if (atStart) return withoutMargins([...atStart, ...tokens.slice(2)])
  const atEnd = least(tokens, tokens.length - 2)
  return atEnd ? withoutMargins([...tokens.slice(0, -2), ...atEnd]) : tokens
}

/** The fewest repetitions of a character with an open-ended quantifier; undefined if the tokens are anything else. */
function least(tokens: readonly Token[], at: number): Token[] | undefined {
  const [character, quantifier] = [tokens[at], tokens[at + 1]]
  if (!character || !isCharacter(character) || quantifier?.kind !== 'quantifier') return undefined
  const { fewest, isEndless } = readQuantifier(quantifier.text)
  if (!isEndless) return undefined
  if (fewest < 2) return fewest === 0 ? [] : [character]
  return [character, { kind: 'quantifier', text: `{${fewest}}` }]
}

function isCharacter({ kind }: Token): boolean {
  return kind === 'class' || kind === 'shorthand' || kind === 'single'
}

function literalOf(tokens: readonly Token[]): string | undefined {
  const isText = tokens.every(({ kind, text }) => kind === 'single' && text !== '.' && !/^\\[nrt]$/.test(text))
  return isText ? tokens.map(({ text }) => text.replace(/^\\/, '')).join('') : undefined
}

/** Returns a pattern that matches exactly this text. Not `RegExp.escape`: its `\x61` hides a prefix from the index. */
export function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** Returns the first text after all that begin with this one; undefined if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map(character => character.codePointAt(0)!)
  while (points.length > 0) {
    const last = points.pop()!
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1) // no lone surrogates
  }
  return undefined
}

/** Whether the pattern compiles: ranges and brackets are valid. */
function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}

/** A part of a pattern as servers get it, and in how many ways it can be tried at one place. */
type Part = { source: string; ways: number; reaches: number; isRestless: boolean }

/** Reads a pattern by its structure, and refuses what is repeated within a repetition. */
function readStructure(tokens: readonly Token[], refuse: Refuse): { source: string; cost: number } {
  let at = 0
  let repeats = 0
  /** The next open-ended quantifier needs no end: it is tried at one place only, the beginning. */
  let isFree = false

  const branches = (isWhole: boolean): Part[] => {
    const found: Part[] = []
    for (;;) {
      if (isWhole) isFree = tokens[at]?.text === '^'
      found.push(branch())
      if (tokens[at]?.kind !== 'branch') return found
      at++
    }
  }

  const branch = (): Part => {
    const whole: Part = { source: '', ways: 1, reaches: 0, isRestless: false }
    while (at < tokens.length && tokens[at]!.kind !== 'branch' && tokens[at]!.kind !== 'close') {
      const { kind } = tokens[at]!
      const part = repeated(kind === 'open' ? group() : one(), kind === 'anchor' || kind === 'quantifier')
      whole.source += part.source
      whole.ways *= part.ways
      whole.reaches += part.reaches
      whole.isRestless ||= part.isRestless
    }
    return whole
  }

  const one = (): Part => {
    const token = tokens[at]!
    if (token.kind === 'quantifier') refuse('has a quantifier without a character before it')
    at++
    return { source: asciiOnly(token), ways: 1, reaches: 0, isRestless: false }
  }

  const group = (): Part => {
    const { text } = tokens[at++]!
    const inner = branches(false)
    at++
    return {
      source: `${text}${inner.map(({ source }) => source).join('|')})`,
      ways: inner.reduce((sum, { ways }) => sum + ways, 0),
      reaches: Math.max(...inner.map(({ reaches }) => reaches)),
      isRestless: inner.length > 1 || inner.some(({ isRestless }) => isRestless),
    }
  }

  /** A part with the quantifier after it, if there is one. */
  const repeated = (part: Part, isNothing: boolean): Part => {
    const quantifier = tokens[at]
    if (quantifier?.kind !== 'quantifier') return part
    if (isNothing) refuse('has a quantifier without a character before it')
    at++
    const { fewest, most, isEndless, isCounted } = readQuantifier(quantifier.text)
    if (part.isRestless && (isEndless || most > 1)) refuse('has a nested quantifier')
    if (isCounted) repeats += isEndless ? fewest : most
    if (repeats > MAX_REPEATS) refuse(`repeats more than ${MAX_REPEATS} times`)
    const isExact = !isEndless || isFree
    if (isEndless) isFree = false
    return {
      source: part.source + (isExact ? quantifier.text : limited(fewest, quantifier.text)),
      ways: isEndless ? 1 : most === 0 ? 1 : part.ways + most - fewest,
      reaches: part.reaches + (isExact ? 0 : 1),
      isRestless: true,
    }
  }

  const whole = branches(true)
  return {
    source: whole.map(({ source }) => source).join('|'),
    cost: whole.reduce((sum, { ways, reaches }) => sum + ways * REACH_COST ** reaches, 0),
  }
}

function readQuantifier(text: string): { fewest: number; most: number; isEndless: boolean; isCounted: boolean } {
  if (text.startsWith('?')) return { fewest: 0, most: 1, isEndless: false, isCounted: false }
  if (!text.startsWith('{'))
    return { fewest: text.startsWith('+') ? 1 : 0, most: REACH, isEndless: true, isCounted: false }
  const counts = [...text.matchAll(/\d+/g)].map(Number)
  return { fewest: counts[0]!, most: counts.at(-1)!, isEndless: text.includes(',}'), isCounted: true }
}

/** An open-ended quantifier with an end; lazy where it was. */
function limited(fewest: number, text: string): string {
  return `{${fewest},${REACH}}${text.length > 1 && text.endsWith('?') ? '?' : ''}`
}

const ascii: Record<string, string> = { w: 'A-Za-z0-9_', d: '0-9', s: String.raw` \t\n\r\f\v` }

function asciiOnly({ kind, text }: Token): string {
  if (kind === 'class') return asciiClass(text)
  if (kind !== 'shorthand') return text
  const letter = text[1]!
  return letter in ascii ? `[${ascii[letter]}]` : `[^${ascii[letter.toLowerCase()]}]`
}

/** A hyphen beside a shorthand means itself: written out, the shorthand would make a range of it. */
function asciiClass(text: string): string {
  const members = text.match(/\\.|[^\\]/gsu) ?? []
  const isShorthand = (member = '') => /^\\[dws]$/i.test(member)
  const written = members.map((member, at) => {
    if (member === '-' && (isShorthand(members[at - 1]) || isShorthand(members[at + 1]))) return String.raw`\-`
    return isShorthand(member) ? (ascii[member[1]!] ?? member) : member
  })
  return written.join('')
}
