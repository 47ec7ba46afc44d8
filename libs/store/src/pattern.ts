import { Misfit } from './fields.ts'

const MAX_LENGTH = 64
const MAX_ENDLESS = 2 // each one multiplies the time by the length of the text
const MAX_REPEATS = 20

/** A pattern that was checked. */
export type Pattern = {
  /** So written that every server reads it alike: `\w`, `\d` and `\s` are the ASCII ones. */
  source: string
  /** The text it looks for, where it is text and nothing else. */
  literal?: string
  /** Looks for the text at the beginning only. */
  isPrefix: boolean
}

/**
 * Checks the pattern of a `$regex`. Throws
 * `Misfit` for a pattern that is too long, uses what servers disagree on (look-around, back-references, inline flags), or
 * could take long: a quantified group must not repeat or branch inside, and quantifiers are few.
 */
export function readPattern(name: string, pattern: unknown): Pattern {
  const refuse: Refuse = reason => {
    throw new Misfit(`$regex of ${name} ${reason}`)
  }
  if (typeof pattern !== 'string') return refuse('must be text')
  if ([...pattern].length > MAX_LENGTH) refuse(`is longer than ${MAX_LENGTH} characters`)
  const given = tokensOf(pattern)
  if (!given || !compiles(pattern)) return refuse('is not understood')
  const tokens = withoutMargins(given)
  checkStructure(tokens, refuse)
  const [first, ...others] = tokens
  const isPrefix = first?.text === '^'
  const literal = literalOf(isPrefix ? others : tokens)
  return { source: tokens.map(asciiOnly).join(''), ...(literal && { literal }), isPrefix }
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

/** Without `.*` at its ends a pattern finds the same records, sooner. */
function withoutMargins(tokens: readonly Token[]): readonly Token[] {
  const isMargin = (at: number) => tokens[at]?.text === '.' && /^\*\??$/.test(tokens[at + 1]?.text ?? '')
  if (isMargin(0)) return withoutMargins(tokens.slice(2))
  return isMargin(tokens.length - 2) ? withoutMargins(tokens.slice(0, -2)) : tokens
}

function literalOf(tokens: readonly Token[]): string | undefined {
  const isText = tokens.every(({ kind, text }) => kind === 'single' && text !== '.' && !/^\\[nrt]$/.test(text))
  return isText ? tokens.map(({ text }) => text.replace(/^\\/, '')).join('') : undefined
}

/** A text as a pattern that matches it and nothing else. */
export function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The first text after all that begin with this one, undefined where there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix].map(character => character.codePointAt(0)!)
  while (points.length > 0) {
    const last = points.pop()!
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1) // no lone surrogates
  }
  return undefined
}

/** Whether ranges and brackets fit together. */
function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}

/** What stands before a quantifier: nothing it could repeat, something, or a group that repeats or branches itself. */
type Atom = 'none' | 'simple' | 'restless'

function checkStructure(tokens: readonly Token[], refuse: Refuse): void {
  const restless = [false] // of each open group, the pattern itself first
  let atom: Atom = 'none'
  let endless = 0
  let repeats = 0
  for (const { kind, text } of tokens) {
    if (kind === 'open') restless.push(false)
    else if (kind === 'branch') restless[restless.length - 1] = true
    else if (kind === 'quantifier') {
      if (atom === 'none') refuse('repeats nothing')
      if (atom === 'restless') refuse('has a nested quantifier')
      const { most, isEndless, isRepeat } = readQuantifier(text)
      if (isEndless && ++endless > MAX_ENDLESS) refuse(`has more than ${MAX_ENDLESS} open-ended quantifiers`)
      repeats += most
      if (repeats > MAX_REPEATS) refuse(`repeats more than ${MAX_REPEATS} times`)
      if (isRepeat) restless[restless.length - 1] = true
    }
    const closed = kind === 'close' && restless.pop()
    if (closed) restless[restless.length - 1] = true
    atom = closed
      ? 'restless'
      : kind === 'close' || kind === 'class' || kind === 'shorthand' || kind === 'single'
        ? 'simple'
        : 'none'
  }
}

function readQuantifier(text: string): { most: number; isEndless: boolean; isRepeat: boolean } {
  if (text.startsWith('?')) return { most: 0, isEndless: false, isRepeat: false }
  if (!text.startsWith('{')) return { most: 0, isEndless: true, isRepeat: true }
  const counts = [...text.matchAll(/\d+/g)].map(Number)
  return { most: Math.max(...counts), isEndless: text.includes(',}'), isRepeat: true }
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
