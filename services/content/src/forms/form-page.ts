import { type Html, html, type Language, renderPage } from '@rollcall/pages'
import type { PageResponse } from '@rollcall/protos/gen/types.ts'
import type { Collection } from '../collections/collection.model.ts'
import type { Field } from '../collections/fields.ts'
import type { Form } from './form.ts'
import { texts } from './texts.ts'

/** Programs fill in every field, people do not see this one. No field can have its name. */
export const HONEYPOT = '_website'

/** What was submitted, and the field that was not accepted. */
export type Rejection = { given: ReadonlyMap<string, string>; slug: string; text: string; status: number }

type FormCollection = Collection & { form: Form }

const DATE_LENGTH = 10

/** Returns the page of a form, made from the fields of its collection; after a rejection with what was submitted. */
export function formPage(collection: FormCollection, language: Language, rejection?: Rejection): PageResponse {
  const { _id, fields, form } = collection
  const { submit, notAccepted, leaveEmpty } = texts[language]
  const body = html`${rejection ? html`<p class="error" role="alert">${notAccepted}: ${labelOf(fields, rejection.slug)}</p>` : null}
<form method="post" action="/api/forms/${String(_id)}/submit">
${fields.map(field => fieldPart(field, language, rejection))}
<div class="hidden" aria-hidden="true"><label for="${HONEYPOT}">${leaveEmpty}</label>
<input id="${HONEYPOT}" name="${HONEYPOT}" type="text" tabindex="-1" autocomplete="off"></div>
<p><button type="submit">${form.submitLabel || submit}</button></p>
</form>`
  // A page without a referrer would submit the origin null, which is not ours.
  const options = { formTargets: targetsOf(form), referrerPolicy: 'same-origin', status: rejection?.status ?? 200 }
  return renderPage({ language, title: form.title, body, ...options })
}

/** Returns the page that follows a submission. */
export function thanksPage({ form }: FormCollection, language: Language): PageResponse {
  const { thanks, received } = texts[language]
  return renderPage({ language, title: thanks, body: html`<p>${received}</p><p>${form.title}</p>`, status: 201 })
}

/** Browsers apply the policy of the page to redirects of its form as well. */
function targetsOf({ redirectUrl }: Form): string[] {
  return redirectUrl === null ? [] : [new URL(redirectUrl).origin]
}

function labelOf(fields: readonly Field[], slug: string): string {
  return fields.find(field => field.slug === slug)?.name ?? slug
}

function fieldPart(field: Field, language: Language, rejection: Rejection | undefined): Html {
  const { slug, name, required } = field
  const isRejected = rejection?.slug === slug
  const value = rejection ? (rejection.given.get(slug) ?? '') : textOf(field.default)
  const marks = html` id="${slug}" name="${slug}"${required && html` required`}${
    isRejected && html` aria-invalid="true" aria-describedby="${slug}-error" autofocus`
  }`
  const label = html`<label for="${slug}">${name}${required && html` <small>${texts[language].required}</small>`}</label>`
  const error = isRejected && html`<p id="${slug}-error" class="error">${rejection.text}</p>`
  const control = controlOf(field, value, marks, language)
  return field.type === 'boolean'
    ? html`<p>${control} ${label}</p>${error}\n`
    : html`<p>${label}<br>${control}</p>${error}\n`
}

const inputTypes = { string: 'text', number: 'number', date: 'date', email: 'email', url: 'url' } as const

function controlOf({ type, options }: Field, value: string, marks: Html, language: Language): Html {
  if (type === 'text') return html`<textarea${marks} rows="5" maxlength="10000">\n${value}</textarea>`
  if (type === 'boolean') return html`<input type="checkbox" value="true"${value === 'true' && html` checked`}${marks}>`
  if (type === 'enum') {
    const option = (each: string) => html`<option value="${each}"${each === value && html` selected`}>${each}</option>`
    return html`<select${marks}><option value="">${texts[language].choose}</option>${options.map(option)}</select>`
  }
  const shown = type === 'date' ? value.slice(0, DATE_LENGTH) : value
  const more = type === 'number' ? html` step="any"` : type === 'email' ? html` autocomplete="email"` : null
  return html`<input type="${inputTypes[type]}" value="${shown}"${more}${marks}>`
}

function textOf(value: Field['default']): string {
  if (value === null) return ''
  return value instanceof Date ? value.toISOString() : String(value)
}
