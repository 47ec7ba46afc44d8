/** Which contacts bulk work is for: some by their ids, or all that a filter matches. */
export type Selection = { contactIds: string[] } | { filter: object }

/** The most ids that a filter takes. */
export const MAX_IDS = 500

/** Returns a filter that matches a selection; undefined if it has too many ids for one. */
export function filterOf(selection: Selection): object | undefined {
  if ('filter' in selection) return selection.filter
  return selection.contactIds.length <= MAX_IDS ? { _id: { $in: selection.contactIds } } : undefined
}
