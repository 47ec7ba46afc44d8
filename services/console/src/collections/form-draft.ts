import type { Collection, CollectionField, FormDefinition } from '@rollcall/sdk'

/** The form of a collection while it is edited. Lists and pairs are those of the API; null stands for "none chosen". */
export type FormDraft = {
  enabled: boolean
  title: string
  submitLabel: string
  redirectUrl: string
  allowedOrigins: string[]
  /** Whether submissions make contacts. */
  makesContacts: boolean
  contact: {
    email: string | null
    name: string | null
    /** Slugs of fields by the slug of the attribute. */
    attributes: Record<string, string>
    tags: string[]
    lists: string[]
    doubleOptIn: boolean
    consent: string
  }
}

/** Returns the stored form for the editor; for a collection without one what suits its fields. */
export function draftOf({ name, fields, form }: Pick<Collection, 'name' | 'fields' | 'form'>): FormDraft {
  const email = fieldsOf(fields, 'email')[0]?.slug ?? null
  return {
    enabled: form?.enabled ?? true,
    title: form?.title ?? name,
    submitLabel: form?.submitLabel ?? '',
    redirectUrl: form?.redirectUrl ?? '',
    allowedOrigins: form?.allowedOrigins ?? [],
    makesContacts: Boolean(form?.contact),
    contact: {
      email,
      name: null,
      attributes: {},
      tags: [],
      lists: [],
      doubleOptIn: false,
      consent: '',
      ...form?.contact,
    },
  }
}

/** Returns the form as the API takes it. */
export function definitionOf({ makesContacts, contact, redirectUrl, ...form }: FormDraft): FormDefinition {
  const { email, name, ...rest } = contact
  return {
    ...form,
    redirectUrl: redirectUrl.trim() || null,
    ...(makesContacts && { contact: { ...rest, email: email ?? '', ...(name && { name }) } }),
  }
}

/** Returns the fields of a type. */
export function fieldsOf(fields: readonly CollectionField[], type: CollectionField['type']): CollectionField[] {
  return fields.filter(field => field.type === type)
}

const EXAMPLES: Record<CollectionField['type'], string> = {
  string: '…',
  text: '…',
  number: '1',
  boolean: 'true',
  date: '2026-01-31',
  enum: '…',
  email: 'ada@example.com',
  url: 'https://example.com',
}
const INPUTS: Partial<Record<CollectionField['type'], string>> = {
  number: 'number',
  date: 'date',
  email: 'email',
  url: 'url',
}

type Embedded = Pick<Collection, '_id' | 'fields'> & { form: Pick<FormDraft, 'submitLabel'> }

/** Returns the address of the form's own page. */
export function formUrl(id: string, origin: string): string {
  return `${origin}/f/${id}`
}

/** Returns the form as HTML for another page. */
export function htmlSnippet({ _id, fields, form }: Embedded, origin: string, submit: string): string {
  const lines = fields.map(field => `  <label>${escaped(field.name)} ${inputOf(field)}</label>`)
  return [
    `<form method="post" action="${origin}/api/forms/${_id}/submit">`,
    ...lines,
    '  <!-- Programs fill this one in, people do not see it. -->',
    '  <input name="_website" tabindex="-1" autocomplete="off" hidden>',
    `  <button>${escaped(form.submitLabel || submit)}</button>`,
    '</form>',
  ].join('\n')
}

function inputOf({ slug, type, options, required }: CollectionField): string {
  const attributes = `name="${slug}"${required ? ' required' : ''}`
  if (type === 'text') return `<textarea ${attributes}></textarea>`
  if (type === 'boolean') return `<input type="checkbox" value="true" ${attributes}>`
  if (type === 'enum') {
    const choices = options.map(option => `<option>${escaped(option)}</option>`).join('')
    return `<select ${attributes}><option></option>${choices}</select>`
  }
  const input = INPUTS[type]
  return `<input ${input ? `type="${input}" ` : ''}${attributes}>`
}

/** Returns a request of a script that submits the form. */
export function fetchSnippet({ _id, fields }: Omit<Embedded, 'form'>, origin: string): string {
  const values = fields.map(({ slug, type }) => `    ${slug}: ${quoted(type)},`)
  return [
    `const answer = await fetch('${origin}/api/forms/${_id}/submit', {`,
    "  method: 'POST',",
    "  headers: { 'content-type': 'application/json' },",
    '  body: JSON.stringify({',
    ...values,
    '  }),',
    '})',
    '// 201, or the reason with the field: { message, path }',
    'const { message, path } = await answer.json()',
  ].join('\n')
}

function quoted(type: CollectionField['type']): string {
  return type === 'number' || type === 'boolean' ? EXAMPLES[type] : `'${EXAMPLES[type]}'`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
