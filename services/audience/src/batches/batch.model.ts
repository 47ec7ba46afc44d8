import type {
  ApplyBatchResponseFailure as Failure,
  ApplyBatchResponseOutcome as Outcome,
} from '@rollcall/protos/gen/audience-v1.ts'
import { Schema, type Types } from 'mongoose'

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
  /** A letter for each row. */
  outcomes: string
  failures: Failure[]
  optOutsKept: number
  /** The contacts created, in the order of their rows. */
  created: Types.ObjectId[]
  /** History entries of the contacts changed, in the order of their rows: they hold the former values. */
  changed: Types.ObjectId[]
  /** The job that had last changed each of those. */
  formerJobs: (Types.ObjectId | null)[]
  /** The memberships created. */
  joined: Types.ObjectId[]
  at: Date
  /** The result of its undo. */
  undone?: Undone
}

/** What an undo did with the contacts of a batch. */
export type Undone = { deleted: number; restored: number; kept: number; removedFromLists: number }

export const batchSchema = new Schema<Batch>(
  {
    organization: { type: Schema.Types.ObjectId, required: true },
    job: { type: Schema.Types.ObjectId, required: true },
    number: { type: Number, required: true },
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

const codes: Record<Outcome, string> = {
  OUTCOME_UNSPECIFIED: '?',
  CREATED: 'C',
  UPDATED: 'U',
  UNCHANGED: '=',
  SKIPPED: 'S',
  FAILED: 'F',
}
const outcomeOf = new Map(Object.entries(codes).map(([outcome, code]) => [code, outcome as Outcome]))

/** Encodes outcomes as a batch stores them. */
export function writeOutcomes(outcomes: readonly Outcome[]): string {
  return outcomes.map(outcome => codes[outcome]).join('')
}

/** Decodes the outcomes of a batch. */
export function readOutcomes(text: string): Outcome[] {
  return [...text].map(code => outcomeOf.get(code) ?? 'OUTCOME_UNSPECIFIED')
}
