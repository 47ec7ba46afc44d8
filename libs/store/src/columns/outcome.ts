/**
 * Whether a record meets a condition, in three-valued logic: `and` is the smaller of two outcomes, `or` the larger one, and
 * `not` the distance to `YES`.
 */
export const NO = 0
/** Only the record itself decides. */
export const MAYBE = 1
export const YES = 2
