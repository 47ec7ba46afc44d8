import type { Language } from '@rollcall/pages'
import type { Collection } from '../collections/collection.model.ts'
import type { Tenant } from '../collections.ts'
import type { Entry } from '../entries/entry.model.ts'
import { confirmationTexts } from './texts.ts'

/** How long a link is valid, and a sign-up is kept. */
export const SIGN_UP_SECONDS = 7 * 86_400

/** Stores the sign-up of an entry, if the form makes contacts and the entry has an address. */
export async function addSignUp(
  { signUps }: Tenant,
  { form }: Pick<Collection, 'form'>,
  { parent, _id: entry, values, createdAt }: Entry,
  language: Language,
): Promise<void> {
  const contact = form?.contact
  const valueAt = (slug: string) => (Object.hasOwn(values, slug) ? values[slug] : undefined)
  const email = contact && valueAt(contact.email)
  if (!email) return
  const named = Object.entries(contact.attributes).map(([attribute, slug]) => [attribute, valueAt(slug)] as const)
  await signUps.insertOne({
    parent,
    entry,
    form: form.title,
    email: String(email),
    name: contact.name === null ? '' : String(valueAt(contact.name) ?? ''),
    attributes: Object.fromEntries(named.flatMap(([slug, value]) => (value === undefined ? [] : [[slug, value]]))),
    tags: contact.tags,
    lists: contact.lists,
    language,
    doubleOptIn: contact.doubleOptIn,
    consent: contact.consent || confirmationTexts[language].consent(form.title),
    expiresAt: new Date(createdAt.getTime() + SIGN_UP_SECONDS * 1000),
    dueAt: createdAt,
    createdAt,
  })
}
