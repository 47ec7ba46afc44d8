import type { KeyedOptions, Page, Route, UploadFile } from './call.ts'
import { ConnectionError } from './errors.ts'
import { type CallName, routes } from './gen/routes.ts'
import type { Api } from './gen/types.ts'
import { listOf, recordsOf } from './pages.ts'
import { type ClientOptions, createSend, type Request, type Send } from './send.ts'

/** A client of the API: a group of methods for each kind of record. */
export type Client = Api

const TIMEOUT_MS = 30_000
const MAX_RETRIES = 2

/**
 * Creates a client. Methods reject with a `RollcallError`, or with the reason of the signal that aborted them.
 * @throws {TypeError} without `baseUrl` outside of a page
 */
export function createClient(options: ClientOptions = {}): Client {
  if (!options.baseUrl && !('location' in globalThis)) throw new TypeError('createClient needs a baseUrl')
  const send = createSend(options)
  const client: Record<string, Record<string, unknown>> = {}
  for (const [name, route] of Object.entries(routes) as [CallName, Route][]) {
    const [group, method] = name.split('.') as [string, string]
    client[group] ??= {}
    client[group][method] = (...args: unknown[]) => perform(route, requestOf(name, route, args, options), send)
  }
  return client as unknown as Client
}

/** Turns the arguments of a method (path variables, input, options) into a request. */
function requestOf(call: CallName, route: Route, args: unknown[], defaults: ClientOptions): Request {
  const rest = [...args]
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => segment(`${name} of ${call}`, rest.shift()))
  const input = route.input && rest.shift()
  const { signal, timeoutMs, maxRetries, idempotencyKey } = (rest.shift() ?? {}) as KeyedOptions
  return {
    call,
    verb: route.verb,
    target: route.input === 'query' ? withQuery(path, input as Query | undefined) : path,
    headers: {},
    ...(route.input === 'body' && jsonBody(input)),
    ...(route.input === 'file' && fileBody(input as UploadFile)),
    key: route.keyed && (idempotencyKey ?? crypto.randomUUID()),
    signal,
    timeoutMs: timeoutMs ?? defaults.timeoutMs ?? TIMEOUT_MS,
    maxRetries: maxRetries ?? defaults.maxRetries ?? MAX_RETRIES,
  }
}

/** Encodes a path variable. An empty one, or dots, would be another path. */
function segment(name: string, value: unknown): string {
  const text = String(value ?? '')
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} is missing`)
  return encodeURIComponent(text)
}

type Query = Record<string, unknown>

const queryNames: Record<string, string> = { page: '$page', limit: '$limit' }

function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const parameters = new URLSearchParams()
  for (const [name, value] of given)
    parameters.set(queryNames[name] ?? name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  return given.length > 0 ? `${path}?${parameters}` : path
}

function jsonBody(input: unknown): Partial<Request> {
  if (input === undefined) return {}
  const body = JSON.stringify(input)
  return { headers: { 'content-type': 'application/json' }, body: () => body }
}

function fileBody(file: UploadFile): Partial<Request> {
  const form = new FormData()
  form.set('file', file, file.name ?? 'file.csv')
  return { body: () => form }
}

function perform(route: Route, request: Request, send: Send): unknown {
  switch (route.answer) {
    case 'json':
      return send(request, response => response.json())
    case 'file':
      return send(request, response => response)
    case 'list':
      return listOf(
        () => send(request, response => response.json() as Promise<Page<unknown>>),
        () => recordsFrom(request, send),
      )
  }
}

async function* recordsFrom(request: Request, send: Send): AsyncGenerator<unknown> {
  const everything = `${request.target}${request.target.includes('?') ? '&' : '?'}pagination=false`
  const { body } = await send({ ...request, target: everything }, response => response)
  try {
    yield* recordsOf(body!)
  } catch (error) {
    if (request.signal?.aborted) throw request.signal.reason
    throw new ConnectionError('the answer was interrupted', { status: 0, cause: error })
  }
}
