import type { Selection } from '@rollcall/protos/gen/audience-v1.ts'
import type { Campaign } from './campaign.model.ts'

/** Returns the audience of a campaign, as the audience service takes it. */
export function selectionOf({
  lists,
  segments,
  excludeLists,
}: Pick<Campaign, 'lists' | 'segments' | 'excludeLists'>): Selection {
  return { lists: lists.map(String), segments: segments.map(String), excludeLists: excludeLists.map(String) }
}
