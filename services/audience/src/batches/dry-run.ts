import type {
  ApplyBatchRequest,
  ApplyBatchResponse,
  ApplyBatchResponseFieldChange as FieldChange,
  ApplyBatchResponsePreview as Preview,
} from '@rollcall/protos/gen/audience-v1.ts'
import type { Call } from '@rollcall/rpc'
import { pathOf } from '../attributes/attribute-values.ts'
import { readDefinitions } from '../attributes/definitions.ts'
import type { Change } from '../contacts/changes.ts'
import type { Adding } from '../context.ts'
import { isMember } from '../lists/members.ts'
import { applyOptOuts } from '../people/erased-addresses.ts'
import { findKnown, openLists } from './apply-batch.ts'
import { checkBatch, type ImportedContact, type Plan, planBatch } from './plan-batch.ts'

/** Returns what applying a batch would do with the contacts as they are now. Writes nothing. */
export async function dryRunBatch(
  context: Adding,
  request: ApplyBatchRequest,
  { caller }: Call,
): Promise<ApplyBatchResponse> {
  const { contacts, attributes, lists } = context.collections.of(caller.organizationId)
  const checked = checkBatch(request, await readDefinitions(attributes))
  const emailKeys = [...checked.candidates.keys()]
  const plan = planBatch(checked, await findKnown(contacts, emailKeys))
  const { outcomes, optOutsKept, failures, inserts, known } = plan
  await applyOptOuts(
    context,
    caller.organizationId,
    inserts.map(({ contact }) => contact),
  )
  let addedToLists = 0
  for (const { _id } of await openLists(lists, request.listIds))
    addedToLists += inserts.length + known.filter(contact => !isMember(contact, _id)).length
  return { outcomes, optOutsKept, failures, addedToLists, previews: previewsOf(plan, request.previewRows ?? 0) }
}

/** The first rows that change something. */
function previewsOf({ inserts, updates }: Plan, count: number): Preview[] {
  const created = inserts.map(
    ({ row, contact }): Preview => ({
      row,
      email: contact.email,
      outcome: 'CREATED',
      changes: fieldsOf(contact).map(([key, to]) => fieldChange({ key, from: null, to })),
    }),
  )
  const updated = updates.map(
    ({ row, contact, changes }): Preview => ({
      row,
      email: contact.email,
      outcome: 'UPDATED',
      changes: changes.map(fieldChange),
    }),
  )
  return [...created, ...updated].sort((a, b) => a.row - b.row).slice(0, count)
}

function fieldsOf({ emailKey: _, attributes, ...fields }: ImportedContact): [key: string, value: unknown][] {
  const values = Object.entries(attributes).map(([slug, value]): [string, unknown] => [pathOf(slug), value])
  return [...Object.entries(fields), ...values]
}

function fieldChange({ key, from, to }: Change): FieldChange {
  return { key, from: from ?? null, to: to ?? null }
}
