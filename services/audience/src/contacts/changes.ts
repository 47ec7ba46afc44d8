import { emailKeyOf } from '@rollcall/contract'
import type { UpdateContactRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { Types } from 'mongoose'
import { type AttributeValue, pathOf } from '../attributes/attribute-values.ts'
import type { Contact } from './contact.model.ts'

/** The fields of a contact that somebody can change; all others follow from them. */
type Editable = Omit<UpdateContactRequest, 'id'> & Partial<Pick<Contact, 'tags' | 'blocked' | 'blockedReason' | 'user'>>

/** What a contact is to be: fields, and attributes under `attributes.<slug>`, where null removes one. */
export type Patch = Editable & { [path: `attributes.${string}`]: AttributeValue | null }

/** One field as it was and as it is; an attribute that is not there is null. */
export type Change = { key: string; from: unknown; to: unknown }

/** An update of a contact in MongoDB's terms. */
export type ContactUpdate = { $set: Record<string, unknown>; $unset?: Record<string, 1> }

/** What a patch really changes of a contact: values that stay the same are no change. */
export function changesOf(contact: Contact, patch: Patch): Change[] {
  return Object.entries(patch).flatMap(([key, to]) => {
    const from = valueAt(contact, key)
    return isSame(from, to) ? [] : [{ key, from, to }]
  })
}

/** The update that makes the changes, with all that follows from them. */
export function updateOf(contact: Contact, changes: readonly Change[], at: Date): ContactUpdate {
  const set: Record<string, unknown> = { updatedAt: at }
  const unset: Record<string, 1> = {}
  for (const { key, to } of changes) {
    if (to === null && slugOf(key) !== undefined) unset[key] = 1
    else Object.assign(set, { [key]: to }, followers[key]?.(to, contact, at))
  }
  return Object.keys(unset).length > 0 ? { $set: set, $unset: unset } : { $set: set }
}

/** The contact as it is after an update. */
export function applyUpdate(contact: Contact, { $set, $unset = {} }: ContactUpdate): Contact {
  const attributes = { ...contact.attributes }
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries($set)) {
    const slug = slugOf(key)
    if (slug === undefined) fields[key] = value
    else attributes[slug] = value as AttributeValue
  }
  for (const key of Object.keys($unset)) delete attributes[slugOf(key) ?? '']
  return { ...contact, ...fields, attributes }
}

/** Tags trimmed and without repetition, in their order. */
export function distinctTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(tag => tag.trim()))].filter(tag => tag !== '')
}

const followers: Record<string, (to: unknown, contact: Contact, at: Date) => Partial<Contact>> = {
  email: (to, contact) => {
    const emailKey = emailKeyOf(to as string)
    // What is known of an address does not hold for another one.
    return emailKey === contact.emailKey ? {} : { emailKey, emailStatus: 'unknown' }
  },
  unsubscribed: (to, _, at) => ({ unsubscribedAt: to ? at : null, optedOutBy: null }),
  blocked: (to, _, at) => ({ blockedAt: to ? at : null }),
}

const attributePrefix = pathOf('')

function slugOf(key: string): string | undefined {
  return key.startsWith(attributePrefix) ? key.slice(attributePrefix.length) : undefined
}

function valueAt(contact: Contact, key: string): unknown {
  const slug = slugOf(key)
  if (slug === undefined) return contact[key as keyof Contact]
  return Object.hasOwn(contact.attributes, slug) ? contact.attributes[slug] : null
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => item === b[index])
  if (a instanceof Types.ObjectId && b instanceof Types.ObjectId) return a.equals(b)
  return a === b
}
