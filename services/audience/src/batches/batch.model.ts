import type {
  ApplyBatchResponseFailure as Failure,
  ApplyBatchResponseOutcome as Outcome,
} from '@rollcall/protos/gen/audience-v1.ts'
import { Schema, Types } from 'mongoose'

/** How long the values of rows that could not be applied are kept, in words of the guide for operators. */
export const FAILED_VALUES_KEPT = '30 days after the batch'

/**
 * The result of a batch of an import: the outcome of each row, and the documents it wrote. Stored in one transaction with
 * the contacts and their history, so that a batch is applied once or not at all.
 */
export type Batch = {
  _id: Types.ObjectId
  organization: Types.ObjectId
  job: Types.ObjectId
  /** From 0. */
  number: number
  /** The numbers of its rows in the file. */
  rows: number[]
  /** A letter for each of them; `?` for one that is not applied yet. The rows may be applied in several parts. */
  outcomes: string
  failures: Failure[]
  optOutsKept: number
  /** The contacts created. */
  created: Types.ObjectId[]
  /** History entries of the contacts changed: they hold the former values. */
  changed: Types.ObjectId[]
  /** The job that had last changed each of those. */
  formerJobs: (Types.ObjectId | null)[]
  /** The memberships created. */
  joined: Types.ObjectId[]
  /** When its last part was applied. */
  at: Date
  /** The result of its undo. */
  undone?: Undone
}

/** What a transaction adds to a batch: the outcomes of some of its rows, and the documents it wrote for them. */
export type Part = Omit<Batch, '_id' | 'organization' | 'job' | 'number' | 'rows' | 'outcomes' | 'undone'> & {
  outcomes: readonly Outcome[]
}

/** What an undo did with the contacts of a batch. */
export type Undone = { deleted: number; restored: number; kept: number; removedFromLists: number }

export const batchSchema = new Schema<Batch>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    job: { type: Schema.Types.ObjectId, required: true },
    number: { type: Number, required: true },
    rows: { type: [Number], default: undefined },
    outcomes: String,
    failures: [Schema.Types.Mixed],
    optOutsKept: { type: Number, required: true },
    created: [Schema.Types.ObjectId],
    changed: [Schema.Types.ObjectId],
    formerJobs: [Schema.Types.ObjectId],
    joined: [Schema.Types.ObjectId],
    at: { type: Date, required: true },
    undone: Schema.Types.Mixed,
  },
  { collection: 'batches', versionKey: false },
)
batchSchema.index({ organization: 1, job: 1, number: 1 }, { unique: true })
// Finds batches whose failures expire.
batchSchema.index({ at: 1 }, { partialFilterExpression: { 'failures.0': { $exists: true } } })

const codes: Record<Outcome, string> = {
  OUTCOME_UNSPECIFIED: '?',
  CREATED: 'C',
  UPDATED: 'U',
  UNCHANGED: '=',
  SKIPPED: 'S',
  FAILED: 'F',
}
const outcomeOf = new Map(Object.entries(codes).map(([outcome, code]) => [code, outcome as Outcome]))

/** Returns a batch of which no row is applied, with the numbers of its rows. */
export function newBatch(
  { organization, job, number }: Pick<Batch, 'organization' | 'job' | 'number'>,
  rows: readonly number[],
): Batch {
  const nothing = { failures: [], optOutsKept: 0, created: [], changed: [], formerJobs: [], joined: [] }
  const outcomes = codes.OUTCOME_UNSPECIFIED.repeat(rows.length)
  return { _id: new Types.ObjectId(), organization, job, number, rows: [...rows], outcomes, ...nothing, at: new Date() }
}

/** Whether rows of the batch are still to be applied. */
export function hasRowsLeft({ outcomes, undone }: Batch): boolean {
  return !undone && outcomes.includes(codes.OUTCOME_UNSPECIFIED)
}

/** Returns the numbers of the rows that are not applied yet. */
export function rowsLeft({ rows, outcomes }: Batch): Set<number> {
  return new Set(rows.filter((_, index) => outcomes[index] === codes.OUTCOME_UNSPECIFIED))
}

/** Returns a batch whose rows left are those that are sent now: others may fit the attributes than at first. */
export function withRowsSent(batch: Batch, sent: readonly number[]): Batch {
  const left = rowsLeft(batch)
  const applied = batch.rows.filter(row => !left.has(row))
  const isApplied = new Set(applied)
  const rest = sent.filter(row => !isApplied.has(row))
  const none = codes.OUTCOME_UNSPECIFIED
  return {
    ...batch,
    rows: [...applied, ...rest],
    outcomes: batch.outcomes.replaceAll(none, '') + none.repeat(rest.length),
  }
}

/** Returns a batch with another part; `rows` are the numbers of the part's rows. */
export function withPart(batch: Batch, rows: readonly number[], part: Part): Batch {
  const letters = new Map(rows.map((row, index) => [row, codes[part.outcomes[index]!]]))
  return {
    ...batch,
    outcomes: batch.rows.map((row, index) => letters.get(row) ?? batch.outcomes[index]).join(''),
    failures: [...batch.failures, ...part.failures].sort((a, b) => a.row - b.row),
    optOutsKept: batch.optOutsKept + part.optOutsKept,
    created: [...batch.created, ...part.created],
    changed: [...batch.changed, ...part.changed],
    formerJobs: [...batch.formerJobs, ...part.formerJobs],
    joined: [...batch.joined, ...part.joined],
    at: part.at,
  }
}

/**
 * Returns the outcome of each of these rows, or of all rows of the batch if none are given. A row that the batch was ended
 * without is skipped.
 */
export function outcomesOf({ rows, outcomes }: Batch, sent: readonly number[]): Outcome[] {
  const all = [...outcomes].map(code => outcomeOf.get(code) ?? 'OUTCOME_UNSPECIFIED')
  if (sent.length === 0) return all
  const byRow = new Map(rows.map((row, index) => [row, all[index]!]))
  return sent.map(row => byRow.get(row) ?? 'SKIPPED')
}
