import { AppError } from '@rollcall/contract'
import { contactFields } from '@rollcall/protos/gen/audience-v1.ts'

const SLUG = /^[a-z][a-z0-9_]{0,39}$/

/** Reserved: names of contact fields, filter fields and file columns, in lower case. */
const reserved = new Set(
  [...Object.keys(contactFields), 'id', 'createdAt', 'updatedAt', 'organization', 'emailKey'].map(name =>
    name.toLowerCase(),
  ),
)

/** Checks the slug of a new attribute. @throws {AppError} request.invalid_field */
export function checkSlug(slug: string): void {
  if (!SLUG.test(slug)) {
    const reason = 'must be at most 40 lower case letters, digits and underscores, from a letter'
    throw new AppError('request.invalid_field', { path: 'slug', reason })
  }
  if (reserved.has(slug))
    throw new AppError('request.invalid_field', { path: 'slug', reason: 'is the name of a contact field' })
}
