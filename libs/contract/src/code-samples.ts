import type { Example } from './examples.ts'
import { wireNameOf } from './options.ts'
import { lowerFirst } from './root.ts'
import { acceptsIdempotencyKey } from './route-traits.ts'
import { findMessage, type Route } from './routes.ts'

/** A snippet of `x-codeSamples`. */
export type CodeSample = { lang: string; label: string; source: string }

const WIDTH = 80

/**
 * Returns how to make a request with curl and with the SDK. curl reads the environment variables ROLLCALL_URL and
 * ROLLCALL_TOKEN; the SDK's client is `rollcall`, a file to upload `file`.
 */
export function codeSamplesOf(route: Route, example: Example): CodeSample[] {
  const curl = { lang: 'Shell', label: 'curl', source: curlOf(route, example) }
  if (route.carrier.answer === 'redirect') return [curl]
  return [curl, { lang: 'TypeScript', label: 'TypeScript', source: typescriptOf(route, example) }]
}

function curlOf(route: Route, { path, query = {}, body }: Example): string {
  const [...values] = path
  const url = route.path.replace(/:\w+/g, () => values.shift() ?? '')
  const parts = [
    `curl${route.verb === 'GET' || isPlainPost(route, body) ? '' : ` -X ${route.verb}`} "$ROLLCALL_URL${url}"`,
    ...(route.access.kind === 'public' ? [] : [`-H "Authorization: Bearer $ROLLCALL_TOKEN"`]),
    ...(acceptsIdempotencyKey(route) ? [`-H "Idempotency-Key: $(uuidgen)"`] : []),
    ...curlInput(route, query, body),
  ]
  return parts.join(' \\\n  ')
}

/** Whether curl sends a POST without being told to. */
function isPlainPost(route: Route, body: unknown): boolean {
  return route.verb === 'POST' && (body !== undefined || route.carrier.body === 'multipart')
}

function curlInput(route: Route, query: Readonly<Record<string, unknown>>, body: unknown): string[] {
  if (route.carrier.body === 'multipart') return ['-F file=@contacts.csv']
  const parameters = Object.entries(query).map(([name, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return `--data-urlencode ${quoted(`${wireName(route, name)}=${text}`)}`
  })
  if (parameters.length > 0) return ['-G', ...parameters]
  if (body === undefined) return []
  return [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2).replaceAll('\n', '\n  '))}`]
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Returns the name of a query parameter that the SDK calls otherwise: $limit for limit. */
function wireName({ rpc }: Route, name: string): string {
  const fields = rpc.resolvedRequestType!.fieldsArray.flatMap(field => {
    const type = field.resolve().resolvedType
    return type && 'fieldsArray' in type ? type.fieldsArray : [field]
  })
  const field = fields.find(each => each.name === name)
  return field ? wireNameOf(field) : name
}

function typescriptOf(route: Route, { path, query, body }: Example): string {
  const input = route.carrier.body === 'multipart' ? ['file'] : [query, body].filter(value => value !== undefined)
  const args = [
    ...path.map(value => literal(value)),
    ...input.map(value => (value === 'file' ? value : literal(value))),
  ]
  const call = `await rollcall.${route.call}(${args.join(', ')})`
  const name = answerName(route)
  const { download } = route.returns
  if (download?.endsWith('.json')) return `const response = ${call}\nconst data = await response.json()`
  if (download !== undefined) return `const response = ${call}\nconst csv = await response.text()`
  return route.verb === 'DELETE' || name === 'updated' ? call : `const ${name} = ${call}`
}

function answerName({ returns: { pageOf, arrayOf, record }, rpc }: Route): string {
  if (pageOf !== undefined) return 'page'
  if (arrayOf !== undefined) return 'all'
  const type = record === undefined ? rpc.resolvedResponseType! : findMessage(rpc, record)!
  return lowerFirst(type.name.replace(/Response$/, ''))
}

/** Writes JSON as a TypeScript literal, on one line if it is short. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const items = Array.isArray(value)
    ? value.map(item => literal(item, inner))
    : Object.entries(value).map(([name, item]) => `${keyOf(name)}: ${literal(item, inner)}`)
  const space = Array.isArray(value) || items.length === 0 ? '' : ' '
  const line = `${open}${space}${items.join(', ')}${space}${close}`
  if (line.length + indent.length <= WIDTH && !line.includes('\n')) return line
  return `${open}\n${items.map(item => `${inner}${item},\n`).join('')}${indent}${close}`
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name)
}
