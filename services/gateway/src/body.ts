import type { IncomingMessage } from 'node:http'
import { AppError } from '@rollcall/contract'

/** What a JSON body may have at most. */
export const maxBodyBytes = 2 ** 20
const maxDepth = 100

const utf8 = new TextDecoder('utf-8', { fatal: true })
const formType = /^application\/x-www-form-urlencoded\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i
const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Reads a request's JSON body; undefined where there is none.
 * @throws {AppError} bad_request for another content type or encoding, more than 1 MiB, or what is not JSON in UTF-8
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  if (!hasBody(request)) return undefined
  if (!jsonType.test(request.headers['content-type'] ?? '')) refuse('content type must be application/json')
  const bytes = await readBytes(request)
  return bytes.length === 0 ? undefined : parseJson(bytes)
}

/** Whether a request brings a form of the kind that `readForm` reads. */
export function isForm({ headers }: IncomingMessage): boolean {
  return formType.test(headers['content-type'] ?? '')
}

/**
 * Reads a request's URL-encoded form.
 * @throws {AppError} bad_request for another encoding, more than 1 MiB, or what is not UTF-8
 */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const bytes = await readBytes(request)
  try {
    return new URLSearchParams(utf8.decode(bytes))
  } catch {
    refuse('malformed form')
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') refuse('content encoding is not supported')
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) refuse('body is larger than 1 MiB')
  const chunks: Buffer[] = []
  let size = 0
  // The connection has to outlive a refusal: it still carries the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBodyBytes) refuse('body is larger than 1 MiB')
    chunks.push(chunk)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
}

/**
 * Parses JSON text in UTF-8.
 * @throws {AppError} bad_request for what is not, and for nesting that would exhaust the stack of whoever walks it
 */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    refuse('malformed JSON')
  }
  if (isDeeper(value, maxDepth)) refuse(`JSON is nested more than ${maxDepth} levels deep`)
  return value
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(inner => isDeeper(inner, levels - 1))
}

function refuse(message: string): never {
  throw new AppError('bad_request', { message })
}
