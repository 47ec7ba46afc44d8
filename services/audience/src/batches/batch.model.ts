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
  at: Date
}

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
    at: { type: Date, required: true },
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
