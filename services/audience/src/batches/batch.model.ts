import type {
  ApplyBatchResponseFailure as Failure,
  ApplyBatchResponseOutcome as Outcome,
} from '@rollcall/protos/gen/audience-v1.ts'
import { Schema, type Types } from 'mongoose'

/**
 * What a batch of an import came to. Written in one transaction with the contacts and their history, so that no batch is
 * ever half applied: it says that the batch is done, what became of each row, and which documents are its work.
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
  /** The contacts made, in the order of their rows. */
  created: Types.ObjectId[]
  /** History entries of the contacts changed, in the order of their rows: they hold what was there before. */
  changed: Types.ObjectId[]
  /** The job that had last changed each of those. */
  formerJobs: (Types.ObjectId | null)[]
  /** The memberships made. */
  joined: Types.ObjectId[]
  at: Date
  /** What taking it back came to. */
  undone?: Undone
}

/** What became of the contacts of a batch that was taken back. */
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

const letters: Record<Outcome, string> = {
  OUTCOME_UNSPECIFIED: '?',
  CREATED: 'C',
  UPDATED: 'U',
  UNCHANGED: '=',
  SKIPPED: 'S',
  FAILED: 'F',
}
const outcomeOf = new Map(Object.entries(letters).map(([outcome, letter]) => [letter, outcome as Outcome]))

/** Outcomes as a batch keeps them. */
export function writeOutcomes(outcomes: readonly Outcome[]): string {
  return outcomes.map(outcome => letters[outcome]).join('')
}

/** Outcomes that a batch keeps. */
export function readOutcomes(text: string): Outcome[] {
  return [...text].map(letter => outcomeOf.get(letter) ?? 'OUTCOME_UNSPECIFIED')
}
