import { pause } from '@rollcall/runtime'
import { killAtWork } from '@rollcall/testing/kill-at-work'
import fc from 'fast-check'
import { type Model, Types } from 'mongoose'
import {
  absentColumn,
  type Column,
  type ColumnEncoder,
  createColumnEncoder,
  decodeColumn,
} from '../src/columns/column.ts'
import { hasColumn, valuesOf } from '../src/columns/column-fields.ts'
import { compileFilter, leavesOf } from '../src/columns/condition.ts'
import { evaluateExpression, evaluateLeaves } from '../src/columns/evaluate.ts'
import { MAYBE, YES } from '../src/columns/outcome.ts'
import { rewriteRowGroup } from '../src/columns/rewrite.ts'
import { GROUP_ROWS } from '../src/columns/row-group.model.ts'
import { parseFilter } from '../src/query/filter.ts'
import type { Store } from '../src/tenancy/connection.ts'
import { insertOf } from '../src/tenancy/scope.ts'
import { anyFilter, columnFields, oddPerson } from './columns.filters.ts'
import { matcher, peopleWithColumns, personColumns } from './columns.ts'
import { matchesPlainly } from './plain-matcher.ts'
import { draft, type Person } from './store.ts'

/** Runs of the harness. */
export type ColumnTrial = {
  searches: number
  /** Processes that rewrite columns and are killed in the middle of it. */
  kills: number
  seed: number
  /** The naive variant: writers do not note which rows are stale. */
  withoutNotes?: boolean
}

/** What a trial saw. */
export type ColumnReport = {
  searches: number
  answered: number
  writes: number
  rewrites: number
  kills: number
  /** Searches that found a record which never matched while they ran, or missed one that always did. */
  wrong: string[]
}

type State = Pick<Person, 'name' | 'age' | 'tags'> & { city?: string | undefined }
/** A state of a record, null for none; visible at `from` at the earliest, and no more at `until`. */
type Version = { state: State | null; from: number; until: number }
/** A filter, and the same as a predicate. */
type Question = { filter: object; matches: (state: State) => boolean }

/** People in each of two row groups. The first begins with holes. */
const [FIRST_GROUP, SECOND_GROUP] = [500, 300]
const PEOPLE = FIRST_GROUP + SECOND_GROUP
const NAMES = ['Ann', 'Bob', 'Cleo', 'Dan', 'Ångström']
const CITIES = ['Oslo', 'Rome', 'Bonn']
const TAGS = ['a', 'b', 'c']

/**
 * Searches columns while people are changed, deleted, restored and added, and while several rewrite the columns. Each
 * record has a log of its versions: a search must find it if all versions that may have been visible meanwhile match, and
 * must not if none does. Ends at the first search that is wrong.
 */
export async function tryColumns(store: Store, model: Model<Person>, trial: ColumnTrial): Promise<ColumnReport> {
  const random = randomNumbers(trial.seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const organization = new Types.ObjectId()
  const world = peopleWithColumns(store, model, organization, trial)
  const { records, list, data, columns } = world
  const log = new Map<number, Version[]>()
  const busy = new Set<number>()
  const report: ColumnReport = { searches: 0, answered: 0, writes: 0, rewrites: 0, kills: 0, wrong: [] }
  let next = 0
  let isOver = false

  const anyState = (): State => ({
    name: pick(NAMES),
    age: Math.floor(random() * 50),
    tags: TAGS.filter(() => random() < 0.4),
    ...(random() < 0.8 && { city: pick(CITIES) }),
  })
  const personOf = ({ city, ...rest }: State) =>
    draft(next++, { ...rest, attributes: city === undefined ? {} : { city } })
  const currentOf = (position: number) => log.get(position)!.at(-1)!

  /** Logs new versions, which a transaction makes visible at some time from now on: before its answer is seen here. */
  const change = async (states: Map<number, State | null>, write: () => Promise<unknown>) => {
    const from = performance.now()
    const replaced = [...states.keys()].map(currentOf)
    for (const [position, state] of states) log.get(position)!.push({ state, from, until: Number.POSITIVE_INFINITY })
    await write()
    const now = performance.now()
    for (const version of replaced) version.until = now
    report.writes++
  }

  const add = async (count: number) => {
    const states = Array.from({ length: count }, anyState)
    const placed = new Map<number, State>()
    // The position is known only in the transaction: the log must not miss it before the commit.
    await store.transaction(async tx => {
      placed.clear()
      const { first } = await list.take(tx, count)
      const drafts = states.map((state, index) => ({ ...personOf(state), position: first + index }))
      await records.bulkWrite(drafts.map(insertOf), { tx })
      states.forEach((state, index) => {
        placed.set(first + index, state)
        busy.add(first + index)
        log.set(first + index, [
          { state: null, from: 0, until: Number.POSITIVE_INFINITY },
          { state, from: 0, until: Number.POSITIVE_INFINITY },
        ])
      })
    })
    const now = performance.now()
    for (const position of placed.keys()) {
      log.get(position)![0]!.until = now
      busy.delete(position)
    }
    report.writes++
  }

  const update = (positions: number[]) => {
    const states = new Map(positions.map(position => [position, anyState()]))
    return change(states, () =>
      store.transaction(async tx => {
        for (const [position, { city, ...rest }] of states) {
          const fields = city === undefined ? rest : { ...rest, 'attributes.city': city }
          const removed = city === undefined && { $unset: { 'attributes.city': 1 } }
          await records.updateOne({ position }, { $set: fields, ...removed }, { tx })
        }
        await list.invalidate(tx, positions)
      }),
    )
  }

  const remove = (positions: number[]) =>
    change(new Map(positions.map(position => [position, null])), () =>
      store.transaction(async tx => {
        await records.deleteMany({ position: { $in: positions } }, { tx })
        await list.release(tx, positions)
      }),
    )

  const restore = (positions: number[]) => {
    const states = new Map(positions.map(position => [position, anyState()]))
    return change(states, () =>
      store.transaction(async tx => {
        const drafts = [...states].map(([position, state]) => ({ ...personOf(state), position }))
        await records.insertMany(drafts, { tx })
        await list.reclaim(tx, positions)
      }),
    )
  }

  const writeOnce = async () => {
    if (random() < 0.1) return add(1 + Math.floor(random() * 3))
    const some = new Set(Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick([...log.keys()].slice(-600))))
    const chosen = [...some].filter(position => !busy.has(position))
    for (const position of chosen) busy.add(position)
    try {
      const gone = chosen.filter(position => currentOf(position).state === null)
      const there = chosen.filter(position => currentOf(position).state !== null)
      if (gone.length > 0) await restore(gone)
      else if (there.length > 0) await (random() < 0.2 ? remove(there) : update(there))
    } finally {
      for (const position of chosen) busy.delete(position)
    }
  }

  const anyQuestion = (): Question => {
    const [name, city, tag, age] = [pick(NAMES), pick(CITIES), pick(TAGS), Math.floor(random() * 50)]
    const ofCity = { 'attributes.city': city }
    return pick<Question>([
      { filter: { name }, matches: state => state.name === name },
      { filter: ofCity, matches: state => state.city === city },
      { filter: { $or: [ofCity, { name }] }, matches: state => state.city === city || state.name === name },
      { filter: { ...ofCity, age: { $gte: age } }, matches: state => state.city === city && state.age! >= age },
      { filter: { 'attributes.city': { $ne: city } }, matches: state => state.city !== city },
      { filter: { 'attributes.city': null, tags: tag }, matches: s => s.city === undefined && s.tags.includes(tag) },
      { filter: { name: { $regex: 'n$' }, tags: tag }, matches: s => s.name.endsWith('n') && s.tags.includes(tag) },
    ])
  }

  /** Whether a search was right about a record. */
  const isRight = (
    versions: readonly Version[],
    matches: Question['matches'],
    isFound: boolean,
    from: number,
    until: number,
  ) => {
    const visible = versions.filter(version => version.from <= until && version.until >= from)
    return visible.some(({ state }) => (state !== null && matches(state)) === isFound)
  }

  const searchOnce = async () => {
    const { filter, matches } = anyQuestion()
    const from = performance.now()
    const rows = await columns.search({ records, filter, unique: [] })
    const until = performance.now()
    report.searches++
    if (!rows) return
    report.answered++
    const found = new Set(rows.highest(GROUP_ROWS * 10))
    const wrong = [...log].filter(
      ([position, versions]) => !isRight(versions, matches, found.has(position), from, until),
    )
    if (wrong.length > 0)
      report.wrong.push(`${JSON.stringify(filter)} of ${wrong.map(([position]) => position).slice(0, 5)}`)
  }

  const rewriteOnce = async () => {
    if (await rewriteRowGroup(data, random() < 0.3 ? 0 : 1)) report.rewrites++
  }

  /** Repeats until the trial is over. */
  const loop = async (task: () => Promise<unknown>) => {
    while (!isOver) {
      await task()
      await pause(1)
    }
  }

  const killOnce = async () => {
    const script = new URL('./columns.child.ts', import.meta.url)
    await killAtWork(script, [store.connection.name, String(organization)], { random, withinMs: 50 })
    report.kills++
  }

  await world.leaveHoles(GROUP_ROWS - FIRST_GROUP)
  await add(PEOPLE)
  await rewriteRowGroup(data, 0)
  await rewriteRowGroup(data, 1)
  const searching = async () => {
    const isDone = () => report.searches >= trial.searches && report.kills >= trial.kills
    while (!isDone() && report.wrong.length === 0) await searchOnce()
    isOver = true
  }
  const killing = async () => {
    while (report.kills < trial.kills && !isOver) await killOnce()
  }
  const others = [writeOnce, writeOnce, writeOnce, rewriteOnce, rewriteOnce].map(loop)
  await Promise.all([searching().finally(() => (isOver = true)), killing(), ...others])
  return report
}

/** Rows that filters are compared on: a prime, so that values of all fields meet. */
const ROWS = 97

/**
 * Evaluates random filters on columns in memory, and on the records by a plain matcher. An outcome that is left to the
 * record cannot be wrong.
 */
export async function compareWithPlainMatcher({ filters, seed }: { filters: number; seed: number }) {
  const report = { filters: 0, outcomes: 0, maybe: 0, wrong: [] as string[] }
  const records = Array.from({ length: ROWS }, (_, number) => oddPerson(number))
  const columns = columnsOf(records)
  const compare = async (given: object) => {
    const filter = parseFilter(JSON.stringify(given), columnFields)
    const expression = compileFilter(filter, field => hasColumn(personColumns, field))
    const outcomes = await evaluateLeaves(leavesOf(expression), columns, ROWS, matcher)
    const rows = evaluateExpression(expression, leaf => outcomes.get(leaf)!, ROWS)
    report.filters++
    records.forEach((record, row) => {
      report.outcomes++
      if (rows[row] === MAYBE) report.maybe++
      else if ((rows[row] === YES) !== matchesPlainly(record, filter))
        report.wrong.push(`${JSON.stringify(given)}: ${row}`)
    })
  }
  const batch = 1000
  for (let from = 0; from < filters && report.wrong.length === 0; from += batch)
    for (const filter of fc.sample(anyFilter, { numRuns: Math.min(batch, filters - from), seed: seed + from }))
      await compare(filter)
  return report
}

function columnsOf(records: readonly object[]) {
  const encoders = new Map<string, ColumnEncoder>()
  records.forEach((record, row) => {
    for (const [column, value] of valuesOf(personColumns, record as Record<string, unknown>)) {
      const encoder = encoders.get(column) ?? createColumnEncoder()
      encoders.set(column, encoder)
      encoder.set(row, value)
    }
  })
  const decoded = new Map([...encoders].map(([column, encoder]) => [column, decodeColumn(encoder.encode(ROWS))]))
  return (column: string): Column => decoded.get(column) ?? absentColumn
}

/** A sequence of numbers from 0 to 1 that a seed repeats (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
