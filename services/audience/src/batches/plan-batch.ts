import { AppError, contactLimits, emailKeyOf } from '@rollcall/contract'
import { readEmail } from '@rollcall/csv'
import type {
  ApplyBatchRequest,
  ApplyBatchResponseFailure as Failure,
  ApplyBatchResponseOutcome as Outcome,
  ApplyBatchRequestRow as Row,
} from '@rollcall/protos/gen/audience-v1.ts'
import {
  type AttributeValue,
  castAttributes,
  type Definitions,
  limitText,
  pathOf,
  requireAttributes,
} from '../attributes/attribute-values.ts'
import { type Change, changesOf, distinctTags, limitGrowth, type Patch } from '../contacts/changes.ts'
import type { Contact } from '../contacts/contact.model.ts'

/** A row that can be applied. */
type Candidate = {
  index: number
  row: Row
  email: string
  emailKey: string
  attributes: readonly [slug: string, value: AttributeValue | null][]
}

/** A batch with the failures of its rows. */
export type CheckedBatch = {
  request: ApplyBatchRequest
  definitions: Definitions
  /** The rows of each email, by emailKey: the first that can be applied is used. */
  candidates: ReadonlyMap<string, readonly Candidate[]>
  /** So far: FAILED, or SKIPPED for a row that another one of its email supersedes. */
  outcomes: Outcome[]
  failures: Failure[]
}

/** A contact to be created, without the fields that all contacts of the import share. */
export type ImportedContact = Pick<Contact, 'email' | 'emailKey' | 'name' | 'attributes' | 'tags' | 'unsubscribed'>

/** The writes that apply a batch. */
export type Plan = {
  /** One for each row, in order. */
  outcomes: Outcome[]
  failures: Failure[]
  optOutsKept: number
  inserts: { row: number; contact: ImportedContact }[]
  updates: { row: number; contact: Contact; changes: Change[] }[]
  /** Known contacts that rows apply to, changed or not. */
  known: Contact[]
}

const { nameLength, tagCount, tagLength } = contactLimits()

/** Checks the rows of a batch, each by itself and against each other. An invalid row does not affect the others. */
export function checkBatch(request: ApplyBatchRequest, definitions: Definitions): CheckedBatch {
  const candidates = new Map<string, Candidate[]>()
  const batch: CheckedBatch = { request, definitions, candidates, outcomes: [], failures: [] }
  const lastWins = request.duplicateStrategy !== 'skip'
  for (const [index, row] of request.rows.entries()) {
    batch.outcomes.push('SKIPPED')
    const candidate = orFailure(batch, index, () => checkRow(row, index, definitions))
    if (!candidate) continue
    const sameEmail = candidates.get(candidate.emailKey)
    if (!sameEmail) candidates.set(candidate.emailKey, [candidate])
    else if (lastWins) sameEmail.unshift(candidate)
    else sameEmail.push(candidate)
  }
  return batch
}

/**
 * Decides what becomes of each row.
 * @param known the organization's contacts with the emails of the candidates, by emailKey
 */
export function planBatch(checked: CheckedBatch, known: ReadonlyMap<string, Contact>): Plan {
  const batch = { ...checked, outcomes: [...checked.outcomes], failures: [...checked.failures] }
  const plan: Plan = {
    outcomes: batch.outcomes,
    failures: batch.failures,
    optOutsKept: 0,
    inserts: [],
    updates: [],
    known: [],
  }
  for (const [emailKey, sameEmail] of batch.candidates) {
    const contact = known.get(emailKey)
    for (const candidate of sameEmail) {
      const outcome = orFailure(batch, candidate.index, () =>
        contact ? planKnown(plan, batch, candidate, contact) : planNew(plan, batch, candidate),
      )
      if (!outcome) continue
      plan.outcomes[candidate.index] = outcome
      break
    }
  }
  plan.failures.sort((a, b) => a.row - b.row)
  return plan
}

function planNew(plan: Plan, { request, definitions }: CheckedBatch, candidate: Candidate): Outcome {
  const { row, email, emailKey } = candidate
  const attributes = Object.fromEntries(
    candidate.attributes.filter((entry): entry is [string, AttributeValue] => entry[1] !== null),
  )
  requireAttributes(definitions, attributes)
  limitText(Object.values(attributes))
  const tags = limitTags(distinctTags([...row.tags, ...request.tags]))
  const unsubscribed = row.unsubscribed === true
  const contact = { email, emailKey, name: row.name.trim(), attributes, tags, unsubscribed }
  plan.inserts.push({ row: row.row, contact })
  return 'CREATED'
}

function planKnown(plan: Plan, { request }: CheckedBatch, candidate: Candidate, contact: Contact): Outcome {
  if (request.duplicateStrategy === 'skip') return 'SKIPPED'
  const { row } = candidate
  const name = row.name.trim()
  const keptTags = row.clearTags ? [] : contact.tags
  const patch: Patch = {
    ...(name !== '' && { name }),
    ...Object.fromEntries(candidate.attributes.map(([slug, value]) => [pathOf(slug), value])),
    tags: limitTags(distinctTags([...keptTags, ...row.tags, ...request.tags])),
    ...(row.unsubscribed === true && { unsubscribed: true }),
  }
  const changes = changesOf(contact, patch)
  limitGrowth(contact, changes)
  // A file is no consent: an import never reverts an opt-out.
  if (row.unsubscribed === false && contact.unsubscribed) plan.optOutsKept++
  plan.known.push(contact)
  if (changes.length === 0) return 'UNCHANGED'
  plan.updates.push({ row: row.row, contact, changes })
  return 'UPDATED'
}

function checkRow(row: Row, index: number, definitions: Definitions): Candidate {
  if (row.email.trim() === '') throw new AppError('request.missing_field', { path: 'email' })
  const { value: email, reason } = readEmail(row.email)
  if (email === undefined) throw new AppError('request.invalid_field', { path: 'email', reason })
  if (row.name.trim().length > nameLength) {
    throw new AppError('request.invalid_field', { path: 'name', reason: `at most ${nameLength} characters` })
  }
  if (row.tags.some(tag => tag.trim().length > tagLength)) {
    throw new AppError('request.invalid_field', { path: 'tags', reason: `at most ${tagLength} characters each` })
  }
  const attributes = castAttributes(definitions, row.attributes)
  return { index, row, email, emailKey: emailKeyOf(email), attributes }
}

function limitTags(tags: string[]): string[] {
  if (tags.length > tagCount)
    throw new AppError('request.invalid_field', { path: 'tags', reason: `at most ${tagCount} tags` })
  return tags
}

/** Runs a step for one row; an AppError becomes the row's failure. */
function orFailure<T>(batch: CheckedBatch, index: number, step: () => T): T | undefined {
  try {
    return step()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    batch.outcomes[index] = 'FAILED'
    batch.failures.push(failureOf(batch.request.rows[index]!, error))
  }
}

function failureOf(row: Row, error: AppError): Failure {
  const field = error.path ?? ''
  const reason = 'reason' in error.details ? error.details.reason : undefined
  return { row: row.row, field, value: valueAt(row, field), code: rowCode(error), message: reason ?? error.message }
}

/** Returns the code without its namespace, like the codes of unreadable rows: `invalid_field`. */
function rowCode({ code }: AppError): string {
  return code.slice(code.indexOf('.') + 1)
}

function valueAt(row: Row, field: string): string {
  if (field === 'tags') return row.tags.join(', ')
  if (field === 'email' || field === 'name') return row[field]
  const value = row.attributes[field.slice(pathOf('').length)]
  return value === undefined || value === null ? '' : String(value)
}
