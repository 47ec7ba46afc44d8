import { Misfit } from './fields.ts'

const MAX_LENGTH = 64
const MAX_UNBOUNDED = 3
const MAX_REPEAT = 100

type Group = { repeats: boolean }

/**
 * Checks the pattern of a `$regex`; throws `Misfit` for one that is too long, is not understood alike by every server,
 * or could take long: a quantified group must not repeat or branch inside, and few quantifiers may be open-ended.
 */
export function checkPattern(name: string, pattern: unknown): string {
  const refuse = (reason: string) => new Misfit(`$regex of ${name} ${reason}`)
  if (typeof pattern !== 'string') throw refuse('must be text')
  if ([...pattern].length > MAX_LENGTH) throw refuse(`is longer than ${MAX_LENGTH} characters`)
  const groups: Group[] = [{ repeats: false }]
  let unbounded = 0
  let atom: 'none' | 'single' | Group = 'none'
  let rest = pattern
  while (rest !== '') {
    const token = tokens.exec(rest)
    if (!token) throw refuse('is not understood')
    rest = rest.slice(token[0].length)
    const { quantifier, open, close, branch, anchor } = token.groups as Partial<Record<string, string>>
    if (open !== undefined) {
      groups.push({ repeats: false })
      atom = 'none'
    } else if (close !== undefined) {
      const group = groups.pop()!
      if (groups.length === 0) throw refuse('has an unmatched )')
      if (group.repeats) groups.at(-1)!.repeats = true
      atom = group
    } else if (branch !== undefined) {
      groups.at(-1)!.repeats = true
      atom = 'none'
    } else if (anchor !== undefined) {
      atom = 'none'
    } else if (quantifier !== undefined) {
      if (atom === 'none') throw refuse('repeats nothing')
      if (typeof atom === 'object' && atom.repeats) throw refuse('has a nested quantifier')
      const { repeats, endless } = readQuantifier(quantifier, refuse)
      if (endless && ++unbounded > MAX_UNBOUNDED) throw refuse(`has more than ${MAX_UNBOUNDED} open-ended quantifiers`)
      if (repeats) groups.at(-1)!.repeats = true
      atom = 'none'
    } else {
      atom = 'single'
    }
  }
  if (groups.length > 1) throw refuse('has an unmatched (')
  if (!compiles(pattern)) throw refuse('is not understood') // a range the wrong way round
  return pattern
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}

/** What is left out (look-around, back-references, inline flags, code points) servers understand differently, or slowly. */
const tokens = new RegExp(
  [
    String.raw`(?<quantifier>(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??)`,
    String.raw`(?<open>\((?:\?:|(?!\?)))`,
    String.raw`(?<close>\))`,
    String.raw`(?<branch>\|)`,
    String.raw`(?<anchor>[\^$]|\\[bB])`,
    String.raw`(?<class>\[\^?(?:(?!--|&&|~~)[^\\[\]]|\\[dDwWsSnrt]|\\[^\p{L}\p{N}])+\])`,
    String.raw`(?<escape>\\[dDwWsSnrt]|\\[^\p{L}\p{N}])`,
    String.raw`(?<char>[^\\[\](){}*+?|^$])`,
  ]
    .join('|')
    .replace(/^/, '^(?:')
    .replace(/$/, ')'),
  'u',
)

function readQuantifier(text: string, refuse: (reason: string) => Misfit): { repeats: boolean; endless: boolean } {
  if (text.startsWith('?')) return { repeats: false, endless: false }
  if (!text.startsWith('{')) return { repeats: true, endless: true }
  const [low, high = low] = text.replace(/[{}?]/g, '').split(',') as [string, string?]
  if (high !== '' && Number(high) < Number(low)) throw refuse('has a range the wrong way round')
  if (Math.max(Number(low), Number(high)) > MAX_REPEAT) throw refuse(`repeats more than ${MAX_REPEAT} times`)
  return { repeats: true, endless: high === '' }
}
