import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Misfit } from './fields.ts'
import { readPattern } from './pattern.ts'

/** More than any accepted pattern takes on the texts below. */
const ABORT = 10_000_000
/** Several times as far as an open-ended quantifier reaches: on shorter texts the reach still grows with the text. */
const LENGTH = 768

describe('a pattern that is accepted', () => {
  it('takes steps in proportion to the text, whatever the text', () => {
    let limited = 0
    fc.assert(
      fc.property(patterns, pattern => {
        const source = accepted(pattern)
        if (source?.includes(',256}')) limited++
        if (source !== undefined)
          for (const text of adversaries) assert.ok(isLinear(source, text), `${pattern} as ${source}`)
      }),
      { numRuns: 300 },
    )
    assert.ok(limited > 10, `${limited} patterns of those accepted look far`)
  })

  for (const pattern of [
    'foo.*bar',
    '@(gmail|yahoo|hotmail|outlook)\\.(com|org|net)$',
    '^.*a.*b$',
    '[a-z]+@[a-z]+\\.com',
    '^\\w+\\.\\w+@',
    '\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}',
    '(Mr|Mrs)?\\.? ?Smith',
    '^(a.*|b.*)c|d+e',
    'a+a+',
  ])
    it(`is ${pattern}`, () => {
      const source = accepted(pattern)
      assert.ok(source !== undefined, 'refused')
      for (const text of adversaries) assert.ok(isLinear(source, text), source)
    })

  // Earlier versions accepted these. The counter must show that they are slow.
  for (const pattern of [`${'a?'.repeat(18)}${'a'.repeat(18)}b`, 'a.*b.*c', 'a.*b', '(a|a|a)(a|a|a)(a|a|a)a*b'])
    it(`is not ${pattern} as it stands`, () => {
      assert.notEqual(accepted(pattern), pattern)
      assert.ok(!adversaries.every(text => isLinear(pattern, text)))
    })
})

const piece = fc.constantFrom(
  ...'aabb.*+?()|^$',
  'a?',
  'b?',
  '.*',
  'a+',
  '(?:',
  '[ab]',
  '[^a]',
  '{2,5}',
  '{0,3}',
  '{3,}',
  '\\w',
  '*?',
)
/** Random fragments, and sequences of parts that are valid patterns. */
const patterns = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join('')),
  fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        'a?',
        '.?',
        'a*',
        '.*',
        '[ab]+',
        'a{1,4}',
        '.{2,}',
        '(a|b)',
        '(a|ab)?',
        '(ab)*',
        '|',
        'c',
      ),
      {
        minLength: 2,
        maxLength: 8,
      },
    )
    .chain(parts => fc.constantFrom('', '^').map(start => start + parts.join(''))),
)

const adversaries = ['a', 'ab', 'ba', 'aab', 'a\n', 'foo', 'x@', '1.', 'd']

/** Returns the pattern that the server gets; undefined if it is refused. */
function accepted(pattern: string): string | undefined {
  try {
    return readPattern('name', pattern).source
  } catch (error) {
    if (error instanceof Misfit) return undefined
    throw error
  }
}

/** Whether twice the text takes about twice the steps. Quadratic matching would take four times as many. */
function isLinear(pattern: string, unit: string): boolean {
  const text = (length: number) => unit.repeat(length).slice(0, length)
  const once = stepsOf(pattern, text(LENGTH))
  if (once >= ABORT) return false
  const twice = stepsOf(pattern, text(2 * LENGTH))
  return twice < ABORT && twice <= 3 * once + 1000
}

type Node = (at: number, rest: (at: number) => boolean) => boolean
class TooMany extends Error {}

/** Returns the steps of a backtracking matcher for a pattern at every position of a text without a match. */
function stepsOf(pattern: string, text: string): number {
  let steps = 0
  const subject = `${text}!`
  const step = (): true => {
    if (++steps > ABORT) throw new TooMany()
    return true
  }
  const root = compile(pattern, subject, step)
  try {
    for (let start = 0; start <= subject.length; start++) if (root(start, () => true)) break
  } catch (error) {
    if (!(error instanceof TooMany)) throw error
  }
  return steps
}

/** Compiles a pattern to a backtracking matcher in continuation-passing style. */
function compile(pattern: string, text: string, step: () => true): Node {
  const tokens = pattern.match(/\\.|\[\^?(?:\\.|[^\]])+\]|\((?:\?:)?|\{\d+(?:,\d*)?\}\??|[*+?]\??|./gsu) ?? []
  let next = 0

  const alternatives = (): Node => {
    const branches = [sequence()]
    while (tokens[next] === '|') {
      next++
      branches.push(sequence())
    }
    return (at, rest) => branches.some(branch => branch(at, rest))
  }
  const sequence = (): Node => {
    const parts: Node[] = []
    while (next < tokens.length && tokens[next] !== '|' && tokens[next] !== ')') parts.push(quantified(part()))
    return (at, rest) => {
      const go = (index: number, from: number): boolean => {
        const node = parts[index]
        return node ? node(from, to => go(index + 1, to)) : rest(from)
      }
      return go(0, at)
    }
  }
  const part = (): Node => {
    const token = tokens[next++]!
    if (token.startsWith('(')) {
      const inner = alternatives()
      next++
      return inner
    }
    if (token === '^') return (at, rest) => step() && at === 0 && rest(at)
    if (token === '$') return (at, rest) => step() && at === text.length && rest(at)
    const fits = token.length === 1 && token !== '.' ? (c: string) => c === token : (c: string) => one.test(c)
    const one = new RegExp(token.length === 1 && token !== '.' ? '' : `^${token}$`)
    return (at, rest) => step() && at < text.length && fits(text[at]!) && rest(at + 1)
  }
  const quantified = (node: Node): Node => {
    const match = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)$/.exec(tokens[next] ?? '')
    if (!match) return node
    next++
    const [, sign, low, comma, high, lazy] = match
    const fewest = sign ? (sign === '+' ? 1 : 0) : Number(low)
    const most = sign ? (sign === '?' ? 1 : Infinity) : comma ? (high ? Number(high) : Infinity) : fewest
    return (at, rest) => {
      const go = (count: number, from: number): boolean => {
        const more = () => count < most && node(from, to => to > from && go(count + 1, to))
        const enough = () => count >= fewest && rest(from)
        return lazy ? enough() || more() : more() || enough()
      }
      return go(0, at)
    }
  }
  return alternatives()
}
