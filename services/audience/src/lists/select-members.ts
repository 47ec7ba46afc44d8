import { AppError, emailKeyOf, reviveError } from '@rollcall/contract'
import type {
  AddMembersResponse,
  RemoveMembersResponse,
  SelectMembersRequest,
} from '@rollcall/protos/gen/audience-v1.ts'
import { type Actor, actorOf, type Call, requirePermission } from '@rollcall/rpc'
import { type Filter, objectId, parseFilter } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import { readDefinitions } from '../attributes/definitions.ts'
import type { BulkJob } from '../bulk/bulk-job.model.ts'
import { storeJob } from '../bulk/start-job.ts'
import { contactFields, contactPositions } from '../contacts/contact.model.ts'
import type { Context } from '../context.ts'
import type { AudienceList } from './list.model.ts'
import { listQueue } from './list-counts.ts'
import { addMembers, type Candidate, candidateFields, removeMembers } from './members.ts'

/** The most contacts that one transaction moves. */
const STEP = 1000
/** How long a request waits for its job. */
const WAIT_MS = 2000

/** Adds the contacts that a request selects to a list. */
export function membersAdder(context: Context) {
  return async (request: SelectMembersRequest, call: Call): Promise<AddMembersResponse> => {
    const selection = selectionOf(request)
    if ('filter' in selection) {
      const { jobId, result } = await runJob(context, 'add_to_list', request.id, selection.filter, call)
      return result ? { added: result.changed, alreadyMember: result.unchanged, notFound: 0 } : { jobId }
    }
    const { wanted, found, moved } = await inSteps(context, request.id, selection, call, {
      checkList: refuseArchived,
      move: async (tx, candidates, change) =>
        (await addMembers(context, tx, candidates, { ...change, source: 'api' })).length,
    })
    return { added: moved, alreadyMember: found - moved, notFound: wanted - found }
  }
}

/** Removes the contacts that a request selects from a list. */
export function membersRemover(context: Context) {
  return async (request: SelectMembersRequest, call: Call): Promise<RemoveMembersResponse> => {
    const selection = selectionOf(request)
    if ('filter' in selection) {
      const { jobId, result } = await runJob(context, 'remove_from_list', request.id, selection.filter, call)
      return result ? { removed: result.changed } : { jobId }
    }
    const { moved } = await inSteps(context, request.id, selection, call, {
      checkList: () => {},
      move: (tx, candidates, change) => removeMembers(context, tx, candidates, change),
    })
    return { removed: moved }
  }
}

/** Checks that a list accepts contacts. @throws {AppError} list.archived */
function refuseArchived({ archived }: AudienceList): void {
  if (archived) throw new AppError('list.archived', { path: 'id' })
}

type Selection = { field: '_id' | 'emailKey'; values: string[] } | { filter: string }

/**
 * Returns the only selector of a request. @throws {AppError} request.missing_field for none, request.extra_field for a
 * second one
 */
export function selectionOf({
  contactIds,
  emails,
  filter,
}: Pick<SelectMembersRequest, 'contactIds' | 'emails' | 'filter'>): Selection {
  const given = Object.entries({
    contactIds: contactIds.length > 0,
    emails: emails.length > 0,
    filter: filter !== undefined,
  })
  const [first, second] = given.filter(([, isGiven]) => isGiven).map(([name]) => name)
  if (!first) throw new AppError('request.missing_field', { path: 'contactIds' })
  if (second) throw new AppError('request.extra_field', { path: second })
  if (filter !== undefined) return { filter: JSON.stringify(filter) }
  return first === 'emails'
    ? { field: 'emailKey', values: distinct(emails.map(emailKeyOf)) }
    : { field: '_id', values: distinct(contactIds.map(id => String(objectId(id, 'contactIds')))) }
}

type Step = {
  checkList: (list: AudienceList) => void
  move: (tx: ClientSession, candidates: Candidate[], change: Change) => Promise<number>
}
type Change = { list: AudienceList; actor: Actor; at: Date }

/** Moves contacts in batches, each in a transaction. Skips those that need no move. */
async function inSteps(
  context: Context,
  listId: string,
  { field, values }: { field: string; values: string[] },
  { caller, deadline }: Call,
  { checkList, move }: Step,
) {
  const { lists, contacts } = context.collections.of(caller.organizationId)
  const counts = { wanted: values.length, found: 0, moved: 0 }
  for (let from = 0; from < values.length; from += STEP) {
    const selected: Filter = { [field]: { $in: values.slice(from, from + STEP) } }
    const step = async (tx: ClientSession) => {
      const list = await lists.get(listId, 'list', { tx })
      checkList(list)
      const candidates = await contacts.find(selected, { tx, projection: candidateFields, batchSize: STEP + 1 })
      const moved = await move(tx, candidates, { list, actor: actorOf(caller), at: new Date() })
      return { found: candidates.length, moved }
    }
    const options = { queue: listQueue(listId), timeoutMs: deadline - Date.now() }
    const { found, moved } = await context.store.transaction(step, options)
    counts.found += found
    counts.moved += moved
  }
  return counts
}

/**
 * Runs a bulk job, because a filter can match any number of contacts. Waits for it for 2 seconds: then it continues
 * without the caller, and there is no result.
 * @throws {AppError} the error that failed the job
 */
async function runJob(
  context: Context,
  kind: 'add_to_list' | 'remove_from_list',
  listId: string,
  filter: string,
  call: Call,
): Promise<{ jobId: string; result?: BulkJob['result'] }> {
  const { caller } = call
  requirePermission(caller, 'audience.read') // the counts reveal data of contacts
  const { lists, attributes, bulkJobs } = context.collections.of(caller.organizationId)
  const list = await lists.get(listId, 'list')
  if (kind === 'add_to_list') refuseArchived(list)
  parseFilter(filter, contactFields(await readDefinitions(attributes)))
  const { last } = await contactPositions(context, caller.organizationId).read()
  const change = JSON.stringify({ [kind === 'add_to_list' ? 'addToLists' : 'removeFromLists']: [String(list._id)] })
  const draft = { kind, dryRun: false, change, filter, cursor: last, first: last }
  const started = await storeJob(context, draft, call)
  await context.bulkJob.complete(started, AbortSignal.timeout(WAIT_MS))
  const job: BulkJob = await bulkJobs.get(started._id, 'bulk_job')
  if (job.refusal) throw reviveError(job.refusal)
  return { jobId: String(job._id), ...(job.state === 'completed' && { result: job.result }) }
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)]
}
