import type { CollectionField, FieldDefinition } from '@rollcall/sdk'
import { slugOf } from '../attributes/slug.ts'

export const TYPES = ['string', 'text', 'number', 'boolean', 'date', 'enum', 'email', 'url'] as const
const NEVER_UNIQUE: readonly string[] = ['boolean', 'enum', 'text']

/** A field in the editor. Its key stays as it is once it is stored. */
export type FieldDraft = {
  /** Tells fields apart while they are edited. */
  key: number
  slug: string
  name: string
  type: CollectionField['type']
  required: boolean
  unique: boolean
  options: string[]
  default: CollectionField['default'] | undefined
  isStored: boolean
}

let drafts = 0

/** Returns a field for the editor: a stored one, or a new one. */
export function newDraft(field?: CollectionField): FieldDraft {
  return {
    key: drafts++,
    slug: field?.slug ?? '',
    name: field?.name ?? '',
    type: field?.type ?? 'string',
    required: field?.required ?? false,
    unique: field?.unique ?? false,
    options: field?.options ?? [],
    default: field?.default ?? undefined,
    isStored: field !== undefined,
  }
}

/** Whether fields of a type can be unique. */
export function canBeUnique({ type, default: value }: Pick<FieldDraft, 'type' | 'default'>): boolean {
  return !NEVER_UNIQUE.includes(type) && value === undefined
}

/** Returns a field as the API takes it. A new one without a key gets that of its name. */
export function fieldOf(draft: FieldDraft): FieldDefinition {
  const { slug, name, type, required, unique, options, default: value } = draft
  return {
    slug: slug || slugOf(name),
    name,
    type,
    required,
    options: type === 'enum' ? options : [],
    unique: unique && canBeUnique(draft),
    ...(value !== undefined && { default: value }),
  }
}

/** Returns the fields with one of them moved up (-1) or down (1). */
export function moved(fields: readonly FieldDraft[], position: number, by: -1 | 1): FieldDraft[] {
  const next = [...fields]
  const [field] = next.splice(position, 1)
  next.splice(position + by, 0, field!)
  return next
}
