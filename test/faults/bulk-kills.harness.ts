import assert from 'node:assert/strict'
import { pause, retry } from '@rollcall/runtime'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { type Document, MongoClient, ObjectId } from 'mongodb'
import { type Api, bodyOf } from '../api.ts'
import { importFile } from '../import/import-job.ts'
import { newOrganization, organizationSettings } from '../import/organizations.ts'
import { startStack } from '../stack.ts'
import { differencesOf, takeSnapshot } from './import-kills.snapshot.ts'

/** Number of kills, half of them during the undo, and of contacts. `isNaive`: a kill can cut a step in two. */
export type PlayOptions = { kills: number; contacts: number; seed: number; isNaive?: boolean }

/** How two organizations differ: one whose jobs were killed, and one whose jobs were left alone. */
export type Report = { kills: number; contacts: number; seconds: number; differences: string[] }

/** The product, whose audience can be killed. */
export type World = {
  /** Changes all contacts by a bulk job and undoes that, in two organizations, with kills in one of them. */
  play(options: PlayOptions): Promise<Report>
  [Symbol.asyncDispose](): Promise<void>
}

/** Contacts of a step of the job. */
const STEP = 500
/** A step takes about this long. */
const STEP_MS = 300
const LIMIT_MS = 120_000
const RESTART_MS = 60_000
const TAG = 'changed in bulk'

/** Formats a report as one line. */
export function summarize({ kills, contacts, seconds, differences }: Report): string {
  return `B2  ${kills} kills, ${contacts} contacts changed and restored in ${seconds.toFixed(0)} s: ${differences.length} differences${differences.map(each => `\n  ${each.slice(0, 500)}`).join('')}`
}

/** Starts the product, with the audience as a process. */
export async function startWorld(): Promise<World> {
  await using onFailure = new AsyncDisposableStack()
  const stack = await startStack({ processes: ['audience'], settings: organizationSettings })
  onFailure.defer(() => stack.stop())
  const mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
  onFailure.defer(() => mongo.close())
  const databaseOf = (service: string) => mongo.db(`${stack.namespace}rollcall_${service}`)
  const [audience, imports] = [databaseOf('audience'), databaseOf('import')]
  const [instance] = stack.instances('audience')
  const all = onFailure.move()

  /** An organization with contacts and a list. */
  async function organizationOf(contacts: number) {
    const owner = await newOrganization(stack, { score: 'number' })
    const me = await bodyOf(owner.get<{ organization: { id: string } }>('/api/auth/me'))
    const rows = Array.from({ length: contacts }, (_, index) => `c${index}@example.com,Name ${index},${index},old`)
    await importFile(owner, ['email,name,score,tags', ...rows].join('\n'))
    const list = await bodyOf(owner.post<{ id: string }>('/api/audience-lists', { name: 'In bulk' }), 201)
    return { owner, list: list.id, organization: new ObjectId(me.organization.id) }
  }
  type Played = Awaited<ReturnType<typeof organizationOf>>

  const snapshotOf = ({ organization }: Played) => takeSnapshot({ audience, imports, organization })
  const jobOf = (jobId: string) => audience.collection('bulk_jobs').findOne({ _id: new ObjectId(jobId) })

  /** Follows a job to its end, and kills the audience at random points of it. Returns its result. */
  async function follow(jobId: string, kills: number, { seed, isNaive }: PlayOptions): Promise<Document> {
    const end = Date.now() + scaledTimeout(LIMIT_MS + kills * RESTART_MS)
    for (let killed = 0; ; ) {
      const job = (await jobOf(jobId))!
      if (job.state === 'completed') {
        assert.equal(killed, kills, 'the job ended before all kills')
        return { kind: job.kind, result: { ...job.result, errors: job.result.errors.length } }
      }
      assert.ok(job.state !== 'failed' && Date.now() < end, `${job.state} ${job.failedReason} at ${job.cursor}`)
      if (killed < kills && job.cursor <= job.first * (1 - (killed + 1) / (kills + 2))) {
        await pause(((seed * 7919 + killed * 104_729) % 1000) * (STEP_MS / 1000))
        await instance!.kill()
        if (isNaive) await cutStep(jobId)
        await retry(() => instance!.start(), { deadline: Date.now() + scaledTimeout(RESTART_MS) })
        killed++
      } else await pause(10)
    }
  }

  /** What a product leaves that changes the contacts of a step before it writes history, events and traces. */
  async function cutStep(jobId: string): Promise<void> {
    const { organization, cursor } = (await jobOf(jobId))!
    const position = { $lte: cursor, $gt: cursor - STEP }
    const changed = { tags: [TAG], 'attributes.score': -1 }
    await audience.collection('contacts').updateMany({ organization, position }, { $set: changed })
  }

  async function start(owner: Api, list: string): Promise<string> {
    const change = { addTags: [TAG], removeTags: ['old'], attributes: { score: -1 }, addToLists: [list] }
    const request = { filter: {}, change }
    return (await bodyOf(owner.patch<{ jobId: string }>('/api/audience/bulk', request))).jobId
  }

  /** Changes all contacts and undoes that. Returns the results, and snapshots after both. */
  async function run(played: Played, kills: number, options: PlayOptions) {
    const { owner, list } = played
    const job = await start(owner, list)
    const changed = await follow(job, Math.ceil(kills / 2), options)
    const afterChange = await snapshotOf(played)
    const path = `/api/audience/bulk/${job}/undo`
    const undo = await retry(() => bodyOf(owner.post<{ jobId: string }>(path)), {
      deadline: Date.now() + scaledTimeout(RESTART_MS),
    })
    const undone = await follow(undo.jobId, Math.floor(kills / 2), options)
    return {
      results: [changed, undone].map(each => JSON.stringify(each)),
      afterChange,
      atEnd: await snapshotOf(played),
    }
  }

  const leftAlone = new Map<number, ReturnType<typeof run>>()

  /** What comes of jobs that are left alone, once for each number of contacts. */
  async function expectedOf(options: PlayOptions) {
    const played = await organizationOf(options.contacts)
    const before = await snapshotOf(played)
    const expected = await run(played, 0, options)
    assert.deepEqual(expected.atEnd.contacts, before.contacts, 'an undo restores what the job changed')
    return expected
  }

  async function play(options: PlayOptions): Promise<Report> {
    const startedAt = performance.now()
    const expecting = leftAlone.get(options.contacts) ?? expectedOf(options)
    leftAlone.set(options.contacts, expecting)
    const expected = await expecting
    const actual = await run(await organizationOf(options.contacts), options.kills, options)
    return {
      kills: options.kills,
      contacts: options.contacts,
      seconds: (performance.now() - startedAt) / 1000,
      differences: [
        ...differencesOf(expected.afterChange, actual.afterChange).map(each => `after the change, ${each}`),
        ...differencesOf(expected.atEnd, actual.atEnd).map(each => `after the undo, ${each}`),
        ...differencesOf({ results: expected.results }, { results: actual.results }),
      ],
    }
  }

  return { play, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
