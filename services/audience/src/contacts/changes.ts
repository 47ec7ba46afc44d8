import { emailKeyOf } from '@rollcall/contract'
import type { UpdateContactRequest } from '@rollcall/protos/gen/audience-v1.ts'
import { Types } from 'mongoose'
import { type AttributeValue, MAX_TEXT_BYTES, pathOf, textBytes, tooMuchText } from '../attributes/attribute-values.ts'
import type { Contact } from './contact.model.ts'

/** The fields of a contact that can be changed; the others are derived. */
type Editable = Omit<UpdateContactRequest, 'id'> & Partial<Pick<Contact, 'tags' | 'blocked' | 'blockedReason' | 'user'>>

/** New values of attributes, under `attributes.<slug>`; null removes one. */
export type AttributesPatch = { [path: `attributes.${string}`]: AttributeValue | null }

/** New values of a contact: fields and attributes. */
export type Patch = Editable & AttributesPatch

/** The former and the new value of a field; null for an attribute without a value. */
export type Change = { key: string; from: unknown; to: unknown }

type WithAttributes = Pick<Contact, 'attributes'>

/** An update of a contact in MongoDB's terms. */
export type ContactUpdate = { $set: Record<string, unknown>; $unset?: Record<string, 1> }

/** Returns what a patch changes of a contact, without values that stay the same. */
export function changesOf(contact: Contact, patch: Patch): Change[] {
  return Object.entries(patch).flatMap(([key, to]) => {
    const from = valueAt(contact, key)
    return isSame(from, to) ? [] : [{ key, from, to }]
  })
}

/**
 * Limits the text of a contact's attributes after changes. A contact of an earlier release can be above the limit: its
 * attributes may then change, but not grow.
 * @throws {AppError} request.invalid_field
 */
export function limitGrowth(contact: WithAttributes, changes: readonly Change[]): void {
  const growth = sum(changes.map(({ key, to }) => growthOf(contact, key, to)))
  if (growth > 0 && bytesOf(contact) + growth > MAX_TEXT_BYTES) throw tooMuchText()
}

/** Returns a patch without the attributes that `limitGrowth` would refuse. */
export function fittingPatch<P extends Patch>(contact: WithAttributes, patch: P): P {
  const growths = Object.entries(patch).map(([key, to]) => ({ key, to, growth: growthOf(contact, key, to) }))
  const before = bytesOf(contact)
  let bytes = before + sum(growths.map(({ growth }) => Math.min(growth, 0)))
  const fitting = growths.filter(({ growth }) => {
    const isFitting = growth <= 0 || bytes + growth <= Math.max(before, MAX_TEXT_BYTES)
    if (isFitting) bytes += Math.max(growth, 0)
    return isFitting
  })
  return Object.fromEntries(fitting.map(({ key, to }) => [key, to])) as P
}

/** Returns the update that makes the changes, including derived fields. */
export function updateOf(contact: Contact, changes: readonly Change[], at: Date): ContactUpdate {
  const set: Record<string, unknown> = { updatedAt: at }
  const unset: Record<string, 1> = {}
  for (const { key, to } of changes) {
    if (to === null && slugOf(key) !== undefined) unset[key] = 1
    else Object.assign(set, { [key]: to }, derivations[key]?.(to, contact, at))
  }
  return Object.keys(unset).length > 0 ? { $set: set, $unset: unset } : { $set: set }
}

/** Returns the contact as it is after an update. */
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

/** Returns the tags trimmed, without duplicates and blanks, in their order. */
export function distinctTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(tag => tag.trim()))].filter(tag => tag !== '')
}

const derivations: Record<string, (to: unknown, contact: Contact, at: Date) => Partial<Contact>> = {
  email: (to, contact) => {
    const emailKey = emailKeyOf(to as string)
    // The status belongs to the former address.
    return emailKey === contact.emailKey ? {} : { emailKey, emailStatus: 'unknown' }
  },
  unsubscribed: (to, _, at) => ({ unsubscribedAt: to ? at : null, optedOutBy: null }),
  blocked: (to, contact, at) => ({ blockedAt: to ? at : null, ...(contact.blockedBy && { blockedBy: null }) }),
}

const ATTRIBUTE_PREFIX = pathOf('')

function slugOf(key: string): string | undefined {
  return key.startsWith(ATTRIBUTE_PREFIX) ? key.slice(ATTRIBUTE_PREFIX.length) : undefined
}

function valueAt(contact: Contact, key: string): unknown {
  const slug = slugOf(key)
  return slug === undefined ? contact[key as keyof Contact] : attributeOf(contact, slug)
}

function attributeOf({ attributes }: WithAttributes, slug: string): AttributeValue | null {
  return Object.hasOwn(attributes, slug) ? attributes[slug]! : null
}

/** Returns by how many bytes a new value of a field makes the text of the attributes longer. */
function growthOf(contact: WithAttributes, key: string, to: unknown): number {
  const slug = slugOf(key)
  return slug === undefined ? 0 : textBytes([to]) - textBytes([attributeOf(contact, slug)])
}

function bytesOf({ attributes }: WithAttributes): number {
  return textBytes(Object.values(attributes))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime()
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => item === b[index])
  if (a instanceof Types.ObjectId && b instanceof Types.ObjectId) return a.equals(b)
  return a === b
}
