import type { Db, Document, ObjectId } from 'mongodb'

/** The results of an organization's imports by kind, without what differs between runs. */
export type Snapshot = Record<string, string[]>

/** Source of a snapshot: the databases of audience and import, and the organization. */
export type Source = { audience: Db; imports: Db; organization: ObjectId }

/** Takes a snapshot. Replaces ids by emails, names of lists and the order of jobs; omits times. */
export async function takeSnapshot({ audience, imports, organization }: Source): Promise<Snapshot> {
  const all = (db: Db, collection: string): Promise<Document[]> =>
    db.collection(collection).find({ organization }).sort({ _id: 1 }).toArray()
  const [contacts, history, batches, lists, memberships] = await Promise.all(
    ['contacts', 'history', 'batches', 'lists', 'memberships'].map(name => all(audience, name)),
  )
  const [jobs, failedRows] = await Promise.all(['imports', 'failed_rows'].map(name => all(imports, name)))
  const emails = new Map(contacts!.map(({ _id, email }) => [String(_id), email as string]))
  const listNames = new Map(lists!.map(({ _id, name }) => [String(_id), name as string]))
  const jobNumbers = new Map(jobs!.map(({ _id }, index) => [String(_id), index]))
  const email = (id: unknown) => emails.get(String(id)) ?? 'gone'
  const list = (id: unknown) => listNames.get(String(id)) ?? 'gone'
  const job = (id: unknown) => (id ? (jobNumbers.get(String(id)) ?? 'unknown') : null)
  const events = [...(await eventsOf(audience, organization)), ...(await eventsOf(imports, organization))]

  return {
    contacts: lines(contacts!, contact => {
      const { name, attributes, tags, unsubscribed, blocked, source, importJob } = contact
      return [contact.email, name, sorted(attributes), tags, unsubscribed, blocked, source, job(importJob)]
    }),
    'places in the list': [`${new Set(contacts!.map(({ position }) => position)).size} of ${contacts!.length}`],
    // Entries of events arrive at any time.
    history: lines(
      history!.filter(({ subject }) => subject === 'contact'),
      ({ person, type, data }) => [
        emails.get(String(person)) ?? 'gone',
        type,
        data.changes ?? null,
        data.row ?? null,
        job(data.importJob),
      ],
    ),
    batches: lines(batches!, batch => {
      const { number, outcomes, optOutsKept, failures, created, changed, undone } = batch
      return [job(batch.job), number, outcomes, optOutsKept, failures, created?.length, changed?.length, undone ?? null]
    }),
    lists: lines(lists!, ({ name, memberCount, activeCount }) => [name, memberCount, activeCount]),
    memberships: lines(memberships!, membership => [list(membership.list), email(membership.contact)]),
    jobs: jobs!.map(({ kind, state, failedReason, total, counts, duplicatesInFile, errors, nextBatch }) =>
      JSON.stringify([kind, state, failedReason, total, sorted(counts), duplicatesInFile, errors, nextBatch]),
    ),
    'failed rows': lines(failedRows!, ({ job: id, row, line, code, cells }) => [job(id), row, line, code, cells]),
    events: lines(events, ({ type, data }) => [
      type,
      data.contactId ? email(data.contactId) : null,
      data.listId ? list(data.listId) : null,
      data.jobId ? [job(data.jobId), data.total, data.created, data.updated, data.unchanged, data.skipped] : null,
    ]),
  }
}

/** Returns the differences of two snapshots: kind, number, and a first example. */
export function differencesOf(expected: Snapshot, actual: Snapshot): string[] {
  return Object.keys(expected).flatMap(kind => {
    const [missing, surplus] = [without(expected[kind]!, actual[kind]!), without(actual[kind]!, expected[kind]!)]
    if (missing.length + surplus.length === 0) return []
    return [
      `${kind}: ${missing.length} missing, ${surplus.length} too many, as ${missing[0] ?? '-'} and ${surplus[0] ?? '-'}`,
    ]
  })
}

/** Returns the events of the outbox, which stores them for a day. */
async function eventsOf(db: Db, organization: ObjectId): Promise<Document[]> {
  const entries = await db.collection('outbox').find().toArray()
  return entries
    .flatMap(({ event }) => event as Document | Document[])
    .filter(event => event.organization === String(organization))
}

function lines(records: readonly Document[], shape: (record: Document) => unknown): string[] {
  return records.map(record => JSON.stringify(shape(record))).sort()
}

function sorted(record: Record<string, unknown>): [string, unknown][] {
  return Object.entries(record).sort(([a], [b]) => a.localeCompare(b))
}

/** Returns the multiset difference: the first without the second. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1)
  return lines.filter(line => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  })
}
