/** The tags of a contact before and after a change. */
export type TagChange = { before: readonly string[]; after: string[] }

/** Returns tags as they would be without a change that was made to them earlier. */
export function withoutChange(tags: readonly string[], { before, after }: TagChange): string[] {
  const wasAdded = (tag: string) => after.includes(tag) && !before.includes(tag)
  const removed = before.filter(tag => !after.includes(tag) && !tags.includes(tag))
  return [...tags.filter(tag => !wasAdded(tag)), ...removed]
}
