import { Types } from 'mongoose'
import { type Column, ID_BYTES, type Scalar, SPECIALS, scalarsOf, sizeOf } from './column.ts'
import type { Comparison, Condition, Expression, Leaf } from './condition.ts'
import { MAYBE, NO, YES } from './outcome.ts'
import type { PatternMatcher } from './pattern-matcher.ts'

/** Evaluates conditions for each row. Those on the texts of a column read them once, however many they are. */
export async function evaluateLeaves(
  leaves: readonly Leaf[],
  columnOf: (name: string) => Column,
  rows: number,
  matcher: PatternMatcher,
): Promise<Map<Leaf, Uint8Array>> {
  const matches = await matchPatterns(leaves, columnOf, matcher)
  const ranked = rankTexts(leaves, columnOf)
  return new Map(
    leaves.map(leaf => {
      const { column, condition } = leaf
      return [leaf, evaluateLeaf(columnOf(column), condition, rows, matches.get(leaf), ranked.get(column))]
    }),
  )
}

async function matchPatterns(
  leaves: readonly Leaf[],
  columnOf: (name: string) => Column,
  matcher: PatternMatcher,
): Promise<Map<Leaf, Uint8Array>> {
  const matches = new Map<Leaf, Uint8Array>()
  for (const [name, some] of Map.groupBy(leaves.filter(isPattern), leaf => leaf.column)) {
    const patterns = some.map(({ condition }) => condition.pattern)
    const outcomes = await matcher.match(patterns, columnOf(name))
    for (const [number, leaf] of some.entries()) matches.set(leaf, outcomes[number]!)
  }
  return matches
}

function isPattern(leaf: Leaf): leaf is Leaf & { condition: { kind: 'pattern' } } {
  return leaf.condition.kind === 'pattern'
}

type Comparing = Leaf & { condition: { kind: 'compare' } }

/** The texts that a filter compares those of a column with, in order, and where each of the column's stands among them. */
type Ranked = {
  values: readonly string[]
  /** For each text twice the number of lower values, and one more if it is equal to the next. */
  ranks: Uint16Array
}

/** Ranks the texts of columns, so that a comparison is one of numbers. */
function rankTexts(leaves: readonly Leaf[], columnOf: (name: string) => Column): Map<string, Ranked> {
  const ranked = new Map<string, Ranked>()
  for (const [name, some] of Map.groupBy(leaves.filter(comparesText), leaf => leaf.column)) {
    const values = [...new Set(some.map(({ condition }) => latinOf(condition.value as string)))].sort()
    const compared = values.map(value => Buffer.from(value, 'latin1'))
    const { text, ends } = columnOf(name)
    const bytes = Buffer.from(text, 'latin1')
    let start = 0
    const ranks = Uint16Array.from(ends, end => {
      const rank = rankAmong(compared, bytes, start, end)
      start = end
      return rank
    })
    ranked.set(name, { values, ranks })
  }
  return ranked
}

function comparesText(leaf: Leaf): leaf is Comparing {
  return leaf.condition.kind === 'compare' && typeof leaf.condition.value === 'string'
}

function rankAmong(values: readonly Uint8Array[], bytes: Uint8Array, start: number, end: number): number {
  let [from, to, isEqual] = [0, values.length, false]
  while (from < to) {
    const middle = (from + to) >> 1
    const order = compare(values[middle]!, bytes, start, end)
    if (order < 0) from = middle + 1
    else to = middle
    if (order === 0) isEqual = true
  }
  return 2 * from + (isEqual ? 1 : 0)
}

/** Compares a value with a part of the bytes. A call of the engine for each, as of strings, would take several times as long. */
function compare(value: Uint8Array, bytes: Uint8Array, start: number, end: number): number {
  const shorter = Math.min(value.length, end - start)
  let index = 0
  while (index < shorter && value[index] === bytes[start + index]) index++
  return index < shorter ? value[index]! - bytes[start + index]! : value.length - (end - start)
}

/** @param matches outcomes of the texts, of a pattern */
function evaluateLeaf(
  column: Column,
  condition: Condition,
  rows: number,
  matches: Uint8Array | undefined,
  ranked: Ranked | undefined,
): Uint8Array {
  const outcomes = new Uint8Array(sizeOf(column))
  if (matches) outcomes.set(matches, firstsOf(column).texts)
  else fillScalars(column, condition, outcomes, ranked)
  fillArrays(column, condition, outcomes)
  fillSpecials(column, condition, outcomes)
  return spread(column, outcomes, rows)
}

/** Combines the outcomes of conditions. */
export function evaluateExpression(
  expression: Expression,
  outcomeOf: (leaf: Leaf) => Uint8Array,
  rows: number,
): Uint8Array {
  if (expression === 'unknown') return new Uint8Array(rows).fill(MAYBE)
  if ('column' in expression) return outcomeOf(expression).slice()
  if ('not' in expression) return evaluateExpression(expression.not, outcomeOf, rows).map(outcome => YES - outcome)
  const isAll = 'all' in expression
  const parts = isAll ? expression.all : expression.any
  const result = new Uint8Array(rows).fill(isAll ? YES : NO)
  for (const part of parts) {
    const outcomes = evaluateExpression(part, outcomeOf, rows)
    if (isAll) for (let row = 0; row < rows; row++) result[row] = Math.min(result[row]!, outcomes[row]!)
    else for (let row = 0; row < rows; row++) result[row] = Math.max(result[row]!, outcomes[row]!)
  }
  return result
}

/** Outcomes by value, as outcomes by row. */
function spread({ codes }: Column, outcomes: Uint8Array, rows: number): Uint8Array {
  if (!codes) return outcomes.length === 1 ? new Uint8Array(rows).fill(outcomes[0]!) : outcomes
  const byRow = new Uint8Array(rows)
  for (let row = 0; row < rows; row++) byRow[row] = outcomes[codes[row]!]!
  return byRow
}

/** The number of the first value of each kind. */
function firstsOf({ specials, numbers, dates, ids }: Column) {
  const [afterNumbers, afterDates] = [specials.length + numbers.length, specials.length + numbers.length + dates.length]
  return { numbers: specials.length, dates: afterNumbers, ids: afterDates, texts: afterDates + ids.length / ID_BYTES }
}

function fillScalars(column: Column, condition: Condition, outcomes: Uint8Array, ranked: Ranked | undefined): void {
  switch (condition.kind) {
    case 'in':
      fillEqual(column, condition.values, outcomes)
      break
    case 'all':
      if (countOf(valuesByKind(condition.values)) === 1) fillEqual(column, condition.values, outcomes)
      break
    case 'compare':
      fillCompared(column, condition.operator, condition.value, outcomes, ranked)
      break
    case 'exists':
      outcomes.fill(YES)
  }
}

/** What holds for specials whatever their place, after the others: `exists` is not met by a missing value. */
function fillSpecials({ specials }: Column, condition: Condition, outcomes: Uint8Array): void {
  specials.forEach((special, index) => {
    if (special === SPECIALS.unreadable) outcomes[index] = MAYBE
    else if (condition.kind === 'exists') outcomes[index] = special === SPECIALS.missing ? NO : YES
  })
}

/** An array meets a condition if one of its items does, apart from conditions on the array itself. */
function fillArrays(column: Column, condition: Condition, outcomes: Uint8Array): void {
  const { arrays } = column
  const first = scalarsOf(column)
  const items = condition.kind === 'array' ? codesOf(column, condition.items) : undefined
  const hasAll = condition.kind === 'all' ? allFinder(column, condition.values) : undefined
  arrays.forEach((array, index) => {
    let outcome = NO
    if (condition.kind === 'exists') outcome = YES
    else if (condition.kind === 'size') outcome = array.length === condition.size ? YES : NO
    else if (condition.kind === 'array') outcome = items && isSame(array, items) ? YES : NO
    else if (condition.kind === 'all') outcome = hasAll?.(array) ? YES : NO
    else for (const code of array) outcome = Math.max(outcome, outcomes[code]!)
    outcomes[first + index] = outcome
  })
}

/** Returns whether an array has all values: different codes are different values, so it is enough to count. */
function allFinder(column: Column, values: readonly Scalar[]): (array: Uint16Array) => boolean {
  const isWanted = new Uint8Array(scalarsOf(column))
  fillEqual(column, values, isWanted, SPECIALS.null)
  const wanted = countOf(valuesByKind(values))
  const present = isWanted.reduce((count, outcome) => count + (outcome === YES ? 1 : 0), 0)
  return array => present === wanted && new Set(array.filter(code => isWanted[code] === YES)).size === wanted
}

function isSame(array: Uint16Array, items: readonly number[]): boolean {
  return array.length === items.length && items.every((code, index) => array[index] === code)
}

/** The codes of values in the dictionary; undefined if it lacks one. */
function codesOf(column: Column, values: readonly Scalar[]): number[] | undefined {
  const codes = values.map(value => {
    const outcomes = new Uint8Array(scalarsOf(column))
    fillEqual(column, [value], outcomes, SPECIALS.null)
    return outcomes.indexOf(YES)
  })
  return codes.includes(-1) ? undefined : codes
}

/** @param asNull the lowest special that equals null: a missing value does too, except in an array */
function fillEqual(
  column: Column,
  values: readonly Scalar[],
  outcomes: Uint8Array,
  asNull: number = SPECIALS.missing,
): void {
  const { specials, numbers, dates, ids, text, ends } = column
  const first = firstsOf(column)
  const of = valuesByKind(values)
  specials.forEach((special, index) => {
    const isEqual =
      special <= SPECIALS.null
        ? of.hasNull && special >= asNull
        : special !== SPECIALS.unreadable && of.booleans.has(special === SPECIALS.true)
    if (isEqual) outcomes[index] = YES
  })
  if (of.numbers.size > 0) mark(numbers, of.numbers, outcomes, first.numbers)
  if (of.dates.size > 0) mark(dates, of.dates, outcomes, first.dates)
  if (of.ids.size > 0)
    for (let at = 0; at < ids.length; at += ID_BYTES)
      if (of.ids.has(ids.slice(at, at + ID_BYTES))) outcomes[first.ids + at / ID_BYTES] = YES
  if (of.texts.size === 0) return
  const lengths = new Set([...of.texts].map(({ length }) => length))
  const beginnings = new Set([...of.texts].map(wanted => wanted.charCodeAt(0)))
  let start = 0
  ends.forEach((end, index) => {
    // Most texts are ruled out without a copy of them.
    const isLike = lengths.has(end - start) && (end === start || beginnings.has(text.charCodeAt(start)))
    if (isLike && of.texts.has(text.slice(start, end))) outcomes[first.texts + index] = YES
    start = end
  })
}

function mark(values: Float64Array, wanted: ReadonlySet<number>, outcomes: Uint8Array, first: number): void {
  for (let index = 0; index < values.length; index++) if (wanted.has(values[index]!)) outcomes[first + index] = YES
}

function valuesByKind(values: readonly Scalar[]) {
  const of = {
    hasNull: values.includes(null),
    booleans: new Set<boolean>(),
    numbers: new Set<number>(),
    dates: new Set<number>(),
    ids: new Set<string>(),
    texts: new Set<string>(),
  }
  for (const value of values) {
    if (typeof value === 'boolean') of.booleans.add(value)
    else if (typeof value === 'number') of.numbers.add(value)
    else if (typeof value === 'string') of.texts.add(latinOf(value))
    else if (value instanceof Date) of.dates.add(value.getTime())
    else if (value instanceof Types.ObjectId) of.ids.add(latinOf(value))
  }
  return of
}

/** Number of different values. */
function countOf({ hasNull, booleans, numbers, dates, ids, texts }: ReturnType<typeof valuesByKind>): number {
  return Number(hasNull) + booleans.size + numbers.size + dates.size + ids.size + texts.size
}

/** Only values of one type are compared with each other. */
function fillCompared(
  column: Column,
  operator: Comparison,
  value: NonNullable<Scalar>,
  outcomes: Uint8Array,
  ranked: Ranked | undefined,
): void {
  const { specials, numbers, dates, ids } = column
  const first = firstsOf(column)
  const accepts = comparisons[operator]
  if (typeof value === 'boolean') {
    specials.forEach((special, index) => {
      const isBoolean = special === SPECIALS.false || special === SPECIALS.true
      if (isBoolean && accepts(Number(special === SPECIALS.true), Number(value))) outcomes[index] = YES
    })
  } else if (typeof value === 'number') markCompared(numbers, operator, value, outcomes, first.numbers)
  else if (value instanceof Date) markCompared(dates, operator, value.getTime(), outcomes, first.dates)
  else if (value instanceof Types.ObjectId) {
    const wanted = latinOf(value)
    for (let at = 0; at < ids.length; at += ID_BYTES)
      if (accepts(ids.slice(at, at + ID_BYTES), wanted)) outcomes[first.ids + at / ID_BYTES] = YES
  } else {
    const { values, ranks } = ranked!
    const rank = 2 * values.indexOf(latinOf(value)) + 1
    markCompared(ranks, operator, rank, outcomes, first.texts)
  }
}

type Accepts = <V extends number | string>(value: V, wanted: V) => boolean

const comparisons: Record<Comparison, Accepts> = {
  $gt: (value, wanted) => value > wanted,
  $gte: (value, wanted) => value >= wanted,
  $lt: (value, wanted) => value < wanted,
  $lte: (value, wanted) => value <= wanted,
}

/** Marks the values that meet a comparison. Two loops without a call for each value: there may be a million. */
function markCompared(
  values: Float64Array | Uint16Array,
  operator: Comparison,
  wanted: number,
  outcomes: Uint8Array,
  first: number,
): void {
  const isAbove = operator === '$gt' || operator === '$gte'
  if (operator === '$gt' || operator === '$lte') {
    for (let index = 0; index < values.length; index++)
      if (values[index]! > wanted === isAbove) outcomes[first + index] = YES
  } else {
    for (let index = 0; index < values.length; index++)
      if (values[index]! >= wanted === isAbove) outcomes[first + index] = YES
  }
}

/** Bytes as characters, as columns have them. */
function latinOf(value: string | Types.ObjectId): string {
  return Buffer.from(typeof value === 'string' ? value : value.id).toString('latin1')
}
