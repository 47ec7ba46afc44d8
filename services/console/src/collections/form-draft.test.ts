import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { CollectionField } from '@rollcall/sdk'
import { definitionOf, draftOf, fetchSnippet, htmlSnippet } from './form-draft.ts'

const field = (slug: string, type: CollectionField['type'], more: Partial<CollectionField> = {}): CollectionField => ({
  slug,
  name: slug,
  type,
  required: false,
  default: null,
  options: [],
  unique: false,
  ...more,
})
const FIELDS = [field('title', 'string', { required: true }), field('mail', 'email'), field('seats', 'number')]
const CONTACT = {
  email: 'mail',
  name: null,
  attributes: { company: 'title' },
  tags: ['form'],
  lists: [],
  doubleOptIn: true,
  consent: '',
}
const FORM = {
  enabled: true,
  title: 'Sign up',
  submitLabel: '',
  redirectUrl: null,
  allowedOrigins: ['https://www.example.com'],
  contact: CONTACT,
}

it('a form that is stored as it was read stays as it is', () => {
  const { name: _, ...contact } = CONTACT
  assert.deepEqual(definitionOf(draftOf({ name: 'Courses', fields: FIELDS, form: FORM })), { ...FORM, contact })
})

it('a new form begins with the name of the collection and its email field, and makes no contacts', () => {
  const draft = draftOf({ name: 'Courses', fields: FIELDS, form: null })
  assert.equal(draft.title, 'Courses')
  assert.equal(draft.contact.email, 'mail')
  assert.equal(definitionOf(draft).contact, undefined)
  assert.equal(definitionOf({ ...draft, makesContacts: true }).contact?.email, 'mail')
})

it('the snippets name the fields and escape what people typed', () => {
  const fields = [
    ...FIELDS,
    field('plan', 'enum', { name: 'Plan <b>', options: ['A & B'] }),
    field('news', 'boolean'),
    field('more', 'text'),
  ]
  const html = htmlSnippet({ _id: 'id', fields, form: { submitLabel: 'Join "us"' } }, 'https://crm.example', 'Send')
  assert.match(html, /action="https:\/\/crm\.example\/api\/forms\/id\/submit"/)
  assert.match(html, /<input name="title" required>/)
  assert.match(html, /<input type="email" name="mail">/)
  assert.match(html, /Plan &#60;b&#62; <select name="plan"><option><\/option><option>A &#38; B<\/option><\/select>/)
  assert.match(html, /<button>Join &#34;us&#34;<\/button>/)
  const script = fetchSnippet({ _id: 'id', fields }, 'https://crm.example')
  assert.match(script, /seats: 1,/)
  assert.match(script, /news: true,/)
  assert.match(script, /mail: 'ada@example\.com',/)
})
