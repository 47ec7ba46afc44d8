import { AppError } from '@rollcall/contract'
import { formOf } from '@rollcall/pages'
import type { PageRequest } from '@rollcall/protos/gen/types.ts'
import type { Field } from '../collections/fields.ts'
import { HONEYPOT } from './form-page.ts'

/** The flat body of a submission. `form` is what a browser sent, as text; what it left empty is undefined in `given`. */
export type Submission = {
  given: Record<string, unknown>
  form: ReadonlyMap<string, string> | undefined
  /** Whether a program filled in the field that people do not see. */
  isTrapped: boolean
}

const MAX_BYTES = 64 * 1024
const JSON_TYPE = /^application\/json\s*(;|$)/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads a submission. @throws {AppError} form.too_large, form.wrong_content_type, form.malformed */
export async function readSubmission(request: PageRequest, fields: readonly Field[]): Promise<Submission> {
  if (request.body.length > MAX_BYTES) throw new AppError('form.too_large')
  if (JSON_TYPE.test(request.contentType)) return submissionOf(readObject(request.body), undefined)
  const form = await formOf(request)
  if (!form) throw new AppError('form.wrong_content_type')
  const texts = new Map(form)
  const given = [...texts].map(([name, text]) => [name, readValue(fields, name, text)])
  return submissionOf(Object.fromEntries([...given, ...untickedBoxes(fields, texts)]), texts)
}

/** Returns the values of boxes without a tick, which browsers leave out: false, none if the box is required. */
function untickedBoxes(fields: readonly Field[], texts: ReadonlyMap<string, string>): [string, false | undefined][] {
  const unticked = fields.filter(({ type, slug }) => type === 'boolean' && !texts.get(slug))
  return unticked.map(({ slug, required }) => [slug, required ? undefined : false])
}

function submissionOf(values: Record<string, unknown>, form: Submission['form']): Submission {
  const { [HONEYPOT]: trap, ...given } = values
  return { given, form, isTrapped: trap !== undefined && trap !== '' && trap !== null }
}

function readObject(body: Buffer): Record<string, unknown> {
  const value = parseObject(body)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new AppError('form.malformed')
}

function parseObject(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    throw new AppError('form.malformed')
  }
}

/** Returns the value that a text of a form stands for; none for an empty one. A text that stands for none stays as it is. */
function readValue(fields: readonly Field[], slug: string, text: string): unknown {
  const type = fields.find(field => field.slug === slug)?.type
  if (text === '' && type !== undefined) return undefined
  if (type === 'number') return /^\s*[+-]?(\d|\.\d)/.test(text) && !Number.isNaN(Number(text)) ? Number(text) : text
  if (type === 'boolean') return booleans.get(text.toLowerCase()) ?? text
  return text
}

const booleans = new Map([
  ['true', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['off', false],
  ['0', false],
])
