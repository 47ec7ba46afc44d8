import type { OpenApi } from '@rollcall/contract'
import { code } from './code.ts'
import { anchorOf, type Content, type DescribedError, type Operation, type Parameter, titleOf } from './document.ts'
import { fieldRow, fieldsOf, typeOf } from './fields.ts'
import { type Html, html } from './html.ts'
import { inline } from './markdown.ts'

const KEY = 'Idempotency-Key'
/** Longest line that holds a whole array or object. */
const SHORT = 48
/** Parameters that every list takes, which a guide explains. */
const OF_LISTS = ['$page', '$limit', 'filter', 'sort', 'populate', 'projection', 'pagination']

/** Renders an operation: what it does and takes beside how it is called and what it answers. */
export function operationSection(document: OpenApi, operation: Operation, common: ReadonlySet<string>): Html {
  const anchor = anchorOf(operation)
  const [status = '200', success] = Object.entries(operation.responses)[0]!
  return html`<section class="operation" id="${anchor}" aria-labelledby="${anchor}-title">
<div class="words">
<h2 id="${anchor}-title"><a href="#${anchor}">${titleOf(operation)}</a></h2>
<p class="endpoint">${verbOf(operation)} <code>${operation.path}</code></p>
<p>${inline(`${operation.summary}. ${operation.description ?? ''}`)}</p>
${facts(operation)}
${parameters(document, operation, 'path', 'Path')}
${parameters(document, operation, 'query', 'Query')}
${operation.requestBody && bodyOf(document, 'Body', operation.requestBody.content)}
${bodyOf(document, `Answer ${status}`, success?.content ?? {})}
${errors(document, operation, common)}
</div>
<div class="samples">${samples(operation)}${answer(status, success?.content ?? {})}</div>
</section>`
}

/** Renders the verb of an operation in its colour. */
export function verbOf({ verb }: Operation): Html {
  return html`<span class="verb ${verb.toLowerCase()}">${verb === 'DELETE' ? 'DEL' : verb}</span>`
}

function facts(operation: Operation): Html {
  const { 'x-sdk': call, 'x-limit': limit, parameters } = operation
  const takesKey = parameters.some(({ name }) => name === KEY)
  const rows: [string, Html | string][] = [
    ['Permission', permission(operation)],
    ...(call ? [['SDK', html`<code>rollcall.${call}</code>`] as [string, Html]] : []),
    [
      'Limit',
      html`<a href="/docs/guides/limits">${limit ? `${limit.requests} requests in ${limit.windowSeconds} seconds, and the global limit` : 'The global limit'}</a>`,
    ],
    ...(takesKey
      ? [['Repeating', html`Safe with an <a href="/docs/guides/idempotency">${KEY}</a>`] as [string, Html]]
      : []),
  ]
  return html`<dl class="facts">${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`
}

function permission({ 'x-permission': needed, 'x-scope': scope, security }: Operation): Html | string {
  if (needed) return html`${needed.split(' ').map((name, at) => html`${at > 0 && ' and '}<code>${name}</code>`)}`
  if (scope === undefined)
    return security?.length ? 'None. A session is used if there is one' : 'None. Anyone may call it'
  if (scope === 'any') return 'None besides a credential'
  if (scope === 'none') return 'None besides a credential that is not limited to a scope'
  return html`None besides a credential; one that is limited to a scope needs <code>${scope}</code>`
}

function parameters(document: OpenApi, operation: Operation, where: string, title: string): Html | undefined {
  const given = operation.parameters.filter(parameter => parameter.in === where)
  const shared = given.some(({ name }) => name === 'pagination')
    ? given.filter(({ name }) => OF_LISTS.includes(name))
    : []
  const own = given.filter(parameter => !shared.includes(parameter))
  const listOf = (some: readonly Parameter[]) =>
    html`<ul class="fields">${some.map(({ name, schema, required, description }) =>
      fieldRow(document, { name, schema, isRequired: required, description }),
    )}</ul>`
  if (given.length === 0) return undefined
  return html`<h3>${title}</h3>${own.length > 0 && listOf(own)}${
    shared.length > 0 &&
    html`<p>Filter, order and page, as of <a href="/docs/guides/filters">every list</a>.</p><details><summary>Parameters of lists</summary>${listOf(shared)}</details>`
  }`
}

function bodyOf(document: OpenApi, title: string, content: Content): Html | undefined {
  const [media] = Object.entries(content)
  if (!media) return undefined
  const [type, { schema }] = media
  const page = schema.oneOf?.[0]?.properties?.docs
  const shown = page ?? schema
  const fields = fieldsOf(document, shown)
  const kind = page ? `a page of ${typeOf(document, page.items ?? {})}` : typeOf(document, schema)
  return html`<h3>${title}</h3><p class="media"><code>${type}</code> · ${kind}</p>${
    fields && (title === 'Body' ? fields : html`<details><summary>Fields</summary>${fields}</details>`)
  }`
}

function errors(document: OpenApi, operation: Operation, common: ReadonlySet<string>): Html {
  const known = document['x-errors'] as Record<string, DescribedError>
  const rows = Object.entries(operation['x-error-codes']).flatMap(([status, codes]) =>
    codes.map(name => ({ status, name, message: known[name]!.message })),
  )
  const own = rows.filter(({ name }) => !common.has(name))
  const shared = rows.filter(({ name }) => common.has(name))
  return html`<h3>Errors</h3>${own.length > 0 && errorTable(own)}<details><summary>${
    own.length > 0 ? 'And' : 'Only'
  } ${shared.length} that most operations share</summary>${errorTable(shared)}</details>`
}

/** Renders errors with their status and text. */
export function errorTable(rows: readonly { status: string | number; name: string; message: string }[]): Html {
  return html`<div class="table" tabindex="0" role="group" aria-label="Errors"><table><thead><tr><th>Status</th><th>Code</th><th>Text</th></tr></thead><tbody>${rows.map(
    ({ status, name, message }) => html`<tr><td>${status}</td><td><code>${name}</code></td><td>${message}</td></tr>`,
  )}</tbody></table></div>`
}

function samples({ 'x-codeSamples': given = [] }: Operation): Html[] {
  return given.map(({ lang, source }) => code(source, lang))
}

function answer(status: string, content: Content): Html | undefined {
  const [media] = Object.values(content)
  if (media?.example === undefined) return undefined
  const { example } = media
  return typeof example === 'string'
    ? code(example, 'text', `Answer ${status}`)
    : code(compact(example), 'json', `Answer ${status}`)
}

/** Writes JSON with short arrays and objects on one line. */
function compact(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const isArray = Array.isArray(value)
  const items = isArray
    ? value.map(item => compact(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${compact(item, inner)}`)
  const [open, close, space] = isArray ? ['[', ']', ''] : ['{', '}', items.length > 0 ? ' ' : '']
  const line = `${open}${space}${items.join(', ')}${space}${close}`
  if (line.length <= SHORT && !line.includes('\n')) return line
  return `${open}\n${items.map(item => `${inner}${item}`).join(',\n')}\n${indent}${close}`
}
