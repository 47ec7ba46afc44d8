import { AppError } from '@rollcall/contract'
import type { FormDefinition } from '@rollcall/protos/gen/content-v1.ts'
import { type Call, requirePermission } from '@rollcall/rpc'
import type { Field } from '../collections/fields.ts'
import type { Context } from '../context.ts'

/** The public form of a collection. */
export type Form = {
  enabled: boolean
  title: string
  /** Text of the button; '': the page's own. */
  submitLabel: string
  /** Where a browser goes after a submission; null: a page that says thank you. */
  redirectUrl: string | null
  /** Origins besides the installation's own whose pages may submit. */
  allowedOrigins: string[]
  /** Makes contacts of submissions; null: none. */
  contact: FormContact | null
}

/** How a submission becomes a contact. Fields are named by their slugs. */
export type FormContact = {
  email: string
  name: string | null
  /** Fields by the slug of the attribute. */
  attributes: Record<string, string>
  tags: string[]
  lists: string[]
  /** Whether the person must confirm the address by a mail. */
  doubleOptIn: boolean
  /** What the person agrees to; '': the page's own text. */
  consent: string
}

/** Returns the form of a request as it is stored, without checks of the contact. @throws {AppError} request.invalid_field */
export function readForm(given: FormDefinition): Form {
  const { enabled = true, title, submitLabel = '', redirectUrl, allowedOrigins, contact } = given
  return {
    enabled,
    title,
    submitLabel,
    redirectUrl: redirectUrl ? webUrl(redirectUrl) : null,
    allowedOrigins: [...new Set((allowedOrigins ?? []).map(originAt))],
    contact: contact
      ? {
          email: contact.email,
          name: contact.name ?? null,
          attributes: contact.attributes ?? {},
          tags: [...new Set(contact.tags ?? [])],
          lists: [...new Set(contact.lists ?? [])],
          doubleOptIn: contact.doubleOptIn ?? false,
          consent: contact.consent ?? '',
        }
      : null,
  }
}

/** Checks that a form fits the fields of its collection. @throws {AppError} request.invalid_field */
export function checkMapping({ contact }: Form, fields: readonly Field[]): void {
  if (!contact) return
  const typeOf = (slug: string) => fields.find(field => field.slug === slug)?.type
  if (typeOf(contact.email) !== 'email')
    throw invalid('form.contact.email', 'must be the slug of a field of type email')
  if (contact.name !== null && typeOf(contact.name) !== 'string')
    throw invalid('form.contact.name', 'must be the slug of a field of type string')
  for (const [attribute, slug] of Object.entries(contact.attributes))
    if (!typeOf(slug)) throw invalid(`form.contact.attributes.${attribute}`, 'must be the slug of a field')
}

/**
 * Checks that what a form makes contacts of exists and suffices, and that the caller may create contacts.
 * @throws {AppError} access.permission_denied, request.invalid_field, form.no_sender
 */
export async function checkContact(context: Context, { enabled, contact }: Form, { caller }: Call): Promise<void> {
  if (!contact) return
  requirePermission(caller, 'audience.create')
  if (contact.lists.length > 0) requirePermission(caller, 'audience_lists.create')
  const as = { caller: context.self(caller.organizationId) }
  const targets = { attributes: Object.keys(contact.attributes), lists: contact.lists }
  const { unknownAttributes, unknownLists, missingAttributes } = await context.signUps.checkTargets(targets, as)
  const [attribute] = unknownAttributes
  if (attribute !== undefined) throw invalid(`form.contact.attributes.${attribute}`, 'unknown attribute')
  const [missing] = enabled ? missingAttributes : []
  if (missing !== undefined) throw invalid(`form.contact.attributes.${missing}`, 'contacts must have this attribute')
  const list = contact.lists.findIndex(id => unknownLists.includes(id))
  if (list >= 0) throw invalid(`form.contact.lists.${list}`, 'unknown or archived list')
  if (enabled && contact.doubleOptIn && !(await context.mail.checkDefaultSender({}, as)).usable)
    throw new AppError('form.no_sender')
}

function webUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url && isWeb && !url.username && !url.password) return url.href
  throw invalid('form.redirectUrl', 'must be an http or https URL without a user name')
}

function originAt(text: string, index: number): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(text.toLowerCase())
  if (isOrigin) return url.origin
  throw invalid(`form.allowedOrigins.${index}`, 'must be an origin, such as https://www.example.com')
}

function invalid(path: string, reason: string): AppError {
  return new AppError('request.invalid_field', { path, reason })
}
