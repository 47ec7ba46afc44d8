import type { HttpBody } from '@rollcall/contract'
import { csvRow, joinTags } from '@rollcall/csv'
import type { AttributeType, AttributeValue, Definition } from '../attributes/attribute-values.ts'
import type { Contact } from './contact.model.ts'

const BYTE_ORDER_MARK = '\ufeff' // without it, spreadsheets do not detect UTF-8
const CHUNK_LENGTH = 64 * 1024

const columns: [name: string, cell: (contact: Contact) => string][] = [
  ['email', contact => contact.email],
  ['name', contact => contact.name],
  ['unsubscribed', contact => String(contact.unsubscribed)],
  ['blocked', contact => String(contact.blocked)],
  ['tags', contact => joinTags(contact.tags)],
  ['createdAt', contact => contact.createdAt.toISOString()],
]

/** The stored fields that a CSV line needs. */
export const csvFields: Readonly<Record<string, 1>> = Object.fromEntries(
  [...columns.map(([name]) => name), 'attributes'].map(name => [name, 1 as const]),
)

/** Returns contacts as a CSV file, in chunks of about 64 KiB. Importing it again changes nothing. */
export async function* contactsAsCsv(
  contacts: AsyncIterable<Contact[]>,
  definitions: readonly Definition[],
): AsyncGenerator<HttpBody> {
  const slugs = definitions.map(({ slug }) => slug)
  let text = BYTE_ORDER_MARK + csvRow([...columns.map(([name]) => name), ...slugs])
  for await (const batch of contacts) {
    for (const contact of batch) {
      text += csvRow([...columns.map(([, cell]) => cell(contact)), ...slugs.map(slug => attributeCell(contact, slug))])
      if (text.length < CHUNK_LENGTH) continue
      yield csvBody(text)
      text = ''
    }
  }
  if (text !== '') yield csvBody(text)
}

/** Returns a sample file for imports: all possible columns and one example line. */
export function sampleCsv(definitions: readonly Definition[]): HttpBody {
  const sample: [string, string][] = [
    ['email', 'contact.one@example.com'],
    ['name', 'Contact One'],
    ['tags', joinTags(['newsletter', 'customer'])],
    ['unsubscribed', 'false'],
    ...definitions.map((definition): [string, string] => [definition.slug, exampleOf(definition)]),
  ]
  const lines = [sample.map(([column]) => column), sample.map(([, cell]) => cell)]
  return csvBody(BYTE_ORDER_MARK + lines.map(csvRow).join(''))
}

function csvBody(text: string): HttpBody {
  return { contentType: 'text/csv; charset=utf-8', data: Buffer.from(text) }
}

function attributeCell({ attributes }: Contact, slug: string): string {
  return Object.hasOwn(attributes, slug) ? textOf(attributes[slug]!) : ''
}

function textOf(value: AttributeValue): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

const examples: Record<AttributeType, string> = {
  string: 'Text',
  number: '42',
  boolean: 'true',
  date: '2025-01-31',
  enum: '',
}

function exampleOf({ type, options }: Definition): string {
  return options[0] ?? examples[type]
}
