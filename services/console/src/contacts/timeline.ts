import type { Conditions } from '../kit/list-search.ts'
import type en from './en.ts'

/** A field that an entry changed. */
export type Change = { key: string; from: unknown; to: unknown }

const ENTRIES: Record<string, keyof typeof en.entry> = {
  'contact.created': 'created',
  'contact.imported': 'imported',
  'contact.import_undone': 'importUndone',
  'contact.updated': 'updated',
  'contact.attributes_updated': 'attributesUpdated',
  'contact.tags_replaced': 'tagsReplaced',
  'contact.blocked': 'blocked',
  'contact.unblocked': 'unblocked',
  'contact.added_to_list': 'addedToList',
  'contact.removed_from_list': 'removedFromList',
  'contact.user_linked': 'userLinked',
  'contact.user_unlinked': 'userUnlinked',
  'email.queued': 'emailQueued',
  'email.sent': 'emailSent',
  'email.delivered': 'emailDelivered',
  'email.opened': 'emailOpened',
  'email.clicked': 'emailClicked',
  'email.bounced': 'emailBounced',
  'email.complained': 'emailComplained',
  'email.failed': 'emailFailed',
  'email.suppressed': 'emailSuppressed',
  'contact.restored': 'restored',
  'form.submitted': 'formSubmitted',
  'form.confirmed': 'formConfirmed',
}

/** Returns the sentence of an entry of the timeline, by its type. */
export function entryKey(type: string): keyof typeof en.entry {
  return ENTRIES[type] ?? 'other'
}

/** Returns what an entry of an email says besides its sentence: the subject, and the link or the error. */
export function emailDetails({ subject, url, error }: Record<string, unknown>): string[] {
  return [subject, url ?? error].filter(text => typeof text === 'string')
}

/** Returns the fields that an entry changed. */
export function changesOf(data: Record<string, unknown>): Change[] {
  return Array.isArray(data.changes) ? (data.changes as Change[]) : []
}

/** Kinds of entries that the timeline can be narrowed to, with their types. */
export const KINDS = {
  fields: [
    'contact.created',
    'contact.updated',
    'contact.attributes_updated',
    'contact.tags_replaced',
    'contact.blocked',
    'contact.unblocked',
    'contact.restored',
  ],
  lists: ['contact.added_to_list', 'contact.removed_from_list'],
  imports: ['contact.imported', 'contact.import_undone'],
  forms: ['form.submitted', 'form.confirmed'],
  emails: Object.keys(ENTRIES).filter(type => type.startsWith('email.')),
  account: ['contact.user_linked', 'contact.user_unlinked'],
} as const
export type Kind = keyof typeof KINDS

/** Returns the filter of a kind. Those of the account include what the person did with it. */
export function filterOf(kind: Kind): Conditions {
  const types = { type: { $in: [...KINDS[kind]] } }
  return kind === 'account' ? { $or: [types, { subject: 'user' }] } : types
}

/** Returns the entries by the day they are of, in the order they come in. */
export function byDay<Entry extends { at: string }>(entries: readonly Entry[]): { day: Date; entries: Entry[] }[] {
  const days = Map.groupBy(entries, ({ at }) => new Date(at).toDateString())
  return [...days].map(([day, ofDay]) => ({ day: new Date(day), entries: ofDay }))
}

/** Where an entry comes from or leads to, as far as it says. */
export type EntryLinks = {
  list?: { _id: string; name: string }
  importJob?: string
  row?: number
  collection?: string
}

/** Returns what an entry can be linked with. */
export function linksOf({ list, importJob, row, collection }: Record<string, unknown>): EntryLinks {
  return {
    ...(isNamed(list) && { list }),
    ...(typeof importJob === 'string' && { importJob }),
    ...(typeof row === 'number' && { row }),
    ...(typeof collection === 'string' && { collection }),
  }
}

function isNamed(value: unknown): value is { _id: string; name: string } {
  return typeof value === 'object' && value !== null && '_id' in value && 'name' in value
}
