import type { Page, Route, UploadFile, UploadOptions } from './call.ts'
import { ConnectionError, RollcallError } from './errors.ts'
import { type CallName, routes } from './gen/routes.ts'
import type { Api, BulkStatus, ImportStatus } from './gen/types.ts'
import { listOf, recordsOf } from './pages.ts'
import { randomKey } from './random-key.ts'
import { type ClientOptions, createSend, type Request, type Send } from './send.ts'
import { uploadOf } from './upload.ts'
import { pollUntil, type WaitOptions } from './wait.ts'

/** A client of the API: a group of methods for each kind of record. */
export type Client = Api & {
  imports: {
    /** Polls a job until its state is completed or failed. Returns the last status. */
    wait(jobId: string, options?: WaitOptions<ImportStatus>): Promise<ImportStatus>
  }
  bulk: {
    /** Polls a job until its state is completed or failed: of bulk work, of a list by a filter, of an erasure. */
    wait(jobId: string, options?: WaitOptions<BulkStatus>): Promise<BulkStatus>
  }
}

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
  return withWaits(client as unknown as Api)
}

function withWaits(api: Api): Client {
  const isDone = ({ state }: ImportStatus | BulkStatus) => state === 'completed' || state === 'failed'
  return {
    ...api,
    imports: {
      ...api.imports,
      wait: (jobId, options = {}) => pollUntil(isDone, () => api.imports.getStatus(jobId, options), options),
    },
    bulk: {
      ...api.bulk,
      wait: (jobId, options = {}) => pollUntil(isDone, () => api.bulk.getJob(jobId, options), options),
    },
  }
}

/** Turns the arguments of a method (path variables, input, options) into a request. */
function requestOf(call: CallName, route: Route, args: unknown[], defaults: ClientOptions): Request {
  const rest = [...args]
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => segment(`${name} of ${call}`, rest.shift()))
  const input = route.input && rest.shift()
  const options = (rest.shift() ?? {}) as UploadOptions
  const timeoutMs = route.input === 'file' ? Number.POSITIVE_INFINITY : (defaults.timeoutMs ?? TIMEOUT_MS)
  return {
    call,
    verb: route.verb,
    target: route.input === 'query' ? withQuery(path, input as Query | undefined) : path,
    headers: {},
    ...(route.input === 'body' && jsonBody(input)),
    ...(route.input === 'file' && uploadOf(input as UploadFile, options.onProgress)),
    key: route.keyed && (options.idempotencyKey ?? randomKey()),
    startsJob: route.startsJob,
    isKeyAutomatic: route.keyed === true && options.idempotencyKey === undefined,
    signal: options.signal,
    timeoutMs: options.timeoutMs ?? timeoutMs,
    maxRetries: options.maxRetries ?? defaults.maxRetries ?? MAX_RETRIES,
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
  return { headers: { 'content-type': 'application/json' }, body: () => ({ body }) }
}

function perform(route: Route, request: Request, send: Send): unknown {
  switch (route.answer) {
    case 'json':
      return send(request, readJson)
    case 'file':
      return send(request, response => response)
    case 'list':
      return listOf(
        () => send(request, readJson<Page<unknown>>),
        () => recordsFrom(request, send),
      )
  }
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text()
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new RollcallError('the answer is not JSON', { status: response.status, cause })
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
