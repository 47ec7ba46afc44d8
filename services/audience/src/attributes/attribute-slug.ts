import { AppError } from '@rollcall/contract'
import { contactFields } from '@rollcall/protos/gen/audience-v1.ts'

const pattern = /^[a-z][a-z0-9_]{0,39}$/

/** Names that mean something else in a contact, in a filter or in a column of a file; compared without case. */
const taken = new Set(
  [...Object.keys(contactFields), 'id', 'createdAt', 'updatedAt', 'organization', 'emailKey'].map(name =>
    name.toLowerCase(),
  ),
)

/** @throws {AppError} invalid_field where a text cannot be the slug of an attribute */
export function checkSlug(slug: string): void {
  if (!pattern.test(slug)) {
    const reason = 'must be at most 40 lower case letters, digits and underscores, from a letter'
    throw new AppError('request.invalid_field', { path: 'slug', reason })
  }
  if (taken.has(slug))
    throw new AppError('request.invalid_field', { path: 'slug', reason: 'is the name of a contact field' })
}
