import { AppError } from '@rollcall/contract'
import type { ChangeContactsRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { castAttributes, type Definitions, pathOf } from '../attributes/attribute-values.ts'
import { changesOf, distinctTags, limitGrowth, type Patch } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'
import type { ChangeType } from '../history/history.model.ts'

/** What a bulk job changes of each contact. */
export type ContactsChange = NonNullable<ChangeContactsRequest['change']>

/** A patch that has a history entry and an event of its own, as a single call has. */
export type TypedPatch = { type: ChangeType; patch: Patch }

const MAX_TAGS = 100

/**
 * Returns the patches of a change for one contact, one for each single call that would make it.
 * @throws {AppError} request.invalid_field for too many tags or too much text, or as `castAttributes`
 */
export function plannedPatches(contact: Contact, change: ContactsChange, definitions: Definitions): TypedPatch[] {
  const { addTags = [], removeTags = [], attributes, blocked, blockedReason, unsubscribed } = change
  const patch: Record<string, unknown> = {}
  if (addTags.length > 0 || removeTags.length > 0) patch.tags = changedTags(contact.tags, addTags, removeTags)
  for (const [slug, value] of castAttributes(definitions, attributes ?? {})) patch[pathOf(slug)] = value
  if (unsubscribed) patch.unsubscribed = true
  if (blocked !== undefined) patch.blocked = blocked
  if (blocked === false) patch.blockedReason = null
  else if (blockedReason) patch.blockedReason = blockedReason
  limitGrowth(contact, changesOf(contact, patch as Patch))
  return typedPatches(patch as Patch)
}

/** Splits a patch by the single calls that would make it. */
export function typedPatches(patch: Patch): TypedPatch[] {
  const groups = Map.groupBy(Object.entries(patch), ([key]) => callOf(key, patch))
  return [...groups].map(([type, entries]) => ({ type, patch: Object.fromEntries(entries) as Patch }))
}

function callOf(key: string, { blocked }: Patch): ChangeType {
  if (key === 'tags') return 'contact.tags_replaced'
  if (key.startsWith(pathOf(''))) return 'contact.attributes_updated'
  if (key === 'blocked' || key === 'blockedReason') return blocked === false ? 'contact.unblocked' : 'contact.blocked'
  return 'contact.updated'
}

function changedTags(tags: readonly string[], added: readonly string[], removed: readonly string[]): string[] {
  const gone = new Set(removed)
  const kept = tags.filter(tag => !gone.has(tag))
  const changed = distinctTags([...kept, ...added])
  if (changed.length > MAX_TAGS && changed.length > tags.length)
    throw new AppError('request.invalid_field', { path: 'tags', reason: `at most ${MAX_TAGS} of them` })
  return changed
}
