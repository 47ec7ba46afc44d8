import type { OpenApi } from '@rollcall/contract'
import type { Schema } from './document.ts'
import { type Html, html } from './html.ts'
import { inline } from './markdown.ts'

const DEPTH = 4

/** Renders the fields of an object; nothing if it has none. */
export function fieldsOf(document: OpenApi, schema: Schema, depth = 0): Html | undefined {
  const { properties = {}, required = [] } = recordOf(document, schema) ?? {}
  const rows = Object.entries(properties).map(([name, field]) =>
    fieldRow(document, { name, schema: field, isRequired: required.includes(name), depth }),
  )
  return rows.length > 0 ? html`<ul class="fields">${rows}</ul>` : undefined
}

type Field = { name: string; schema: Schema; isRequired: boolean; description?: string | undefined; depth?: number }

/** Renders a field or a parameter. The fields of an object are folded below it. */
export function fieldRow(
  document: OpenApi,
  { name, schema, isRequired, description = schema.description, depth = 0 }: Field,
): Html {
  const inner = depth < DEPTH ? fieldsOf(document, schema, depth + 1) : undefined
  return html`<li><p class="field"><code>${name}</code> <span class="type">${typeOf(document, schema)}</span>${
    isRequired && html` <span class="required">required</span>`
  }</p>${description && html`<p>${inline(description)}</p>`}${
    inner && html`<details><summary>Fields of ${name}</summary>${inner}</details>`
  }</li>`
}

/** Returns the schema with the fields: of the object itself, of an array's items, or of the first alternative. */
function recordOf(document: OpenApi, schema: Schema): Schema | undefined {
  if (schema.$ref) return recordOf(document, referred(document, schema.$ref))
  if (schema.items) return recordOf(document, schema.items)
  if (schema.oneOf) return schema.oneOf.map(each => recordOf(document, each)).find(found => found !== undefined)
  return schema.properties ? schema : undefined
}

function referred({ components }: OpenApi, ref: string): Schema {
  return components.schemas[ref.split('/').at(-1)!] as Schema
}

/** Describes the type of a value in words: "array of string, at most 100". */
export function typeOf(document: OpenApi, schema: Schema): string {
  const { items, maxItems, minLength, maxLength, enum: values } = schema
  if (schema.$ref) return schema.$ref.split('/').at(-1)!
  if (schema.oneOf) return schema.oneOf.map(each => typeOf(document, each)).join(' or ')
  if (items) return `array of ${typeOf(document, items)}${maxItems ? `, at most ${maxItems}` : ''}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (values) return values.map(value => JSON.stringify(value)).join(' | ')
  const types = [schema.type ?? 'any JSON'].flat()
  const name = types.map(type => (type === 'string' && schema.format ? schema.format : type)).join(' or ')
  const length = maxLength && `${minLength ? `${minLength} to ` : 'at most '}${maxLength} characters`
  return length ? `${name}, ${length}` : name
}
