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
