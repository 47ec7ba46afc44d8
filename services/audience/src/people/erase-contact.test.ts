import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { emailKeyOf } from '@rollcall/contract'
import { type Call, serviceCaller } from '@rollcall/rpc'
import { createLogger, createMetrics } from '@rollcall/runtime'
import { personOf } from '@rollcall/service'
import { connectStore, migrate, type Store } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { addressHasher, jsonOf, testCaller } from '../../test/audience.ts'
import { applyBatch } from '../batches/apply-batch.ts'
import { bulkJob } from '../bulk/bulk.job.ts'
import { bulk } from '../bulk/bulk.ts'
import type { BulkJob } from '../bulk/bulk-job.model.ts'
import { collections } from '../collections.ts'
import { contacts } from '../contacts/contacts.ts'
import type { Context } from '../context.ts'
import { preferenceChanger } from '../recipients/change-preferences.ts'
import { applySignUp } from '../sign-ups/apply-sign-up.ts'
import { keepOptOuts } from './erased-addresses.ts'
import type { ErasedPerson } from './erasers.ts'
import { personalData } from './personal-data.ts'

const logger = createLogger({ service: 'audience', level: 'silent' })
const address = 'One@example.com'

describe('the erasure of a contact', () => {
  const opened = new AsyncDisposableStack()
  let context: Context
  /** What the steps of jobs wait for. */
  let gate: Promise<void> | undefined
  before(async () => {
    const store = await connectStore({
      url: process.env.MONGODB_URL!,
      dbName: `erasure-${new Types.ObjectId()}`,
      logger,
    })
    opened.defer(() => store.close())
    opened.defer(() => dropDatabase(store.connection))
    await migrate(store, logger)
    const data = { store, collections: collections(store), logger, addressHasher }
    const erasers = { audience: (person: ErasedPerson) => erase(person) }
    const transaction: Store['transaction'] = async (work, options) => {
      await gate
      return store.transaction(work, options)
    }
    const job = bulkJob({ ...data, store: { ...store, transaction } }, erasers, { backoff: { baseMs: 1, maxMs: 1 } })
    opened.defer(() => job.stop())
    job.start({ logger, metrics: createMetrics('test') })
    context = { ...data, erasers, bulkJob: job } as unknown as Context
  })
  after(() => opened.disposeAsync())

  const erased: ErasedPerson[] = []
  /** What each round waits for. */
  let whileErasing = async () => {}
  const erase = async (person: ErasedPerson) => {
    erased.push(person)
    await whileErasing()
    for (const held of Object.values(personalData))
      if (held !== 'none' && typeof held.erase === 'function') await held.erase(context, personOf(person))
    return 1
  }
  const newCall = () => ({ ...testCaller(), deadline: Date.now() + scaledTimeout(30_000) }) as Call
  const create = async (call: Call, email: string) =>
    jsonOf<{ id: string }>(contacts(context).createContact({ email, tags: [] }, call) as never)
  const ended = async (call: Call, { jobId }: { jobId: string }) => {
    const { bulkJobs } = context.collections.of(call.caller.organizationId)
    const job = await bulkJobs.get(jobId, 'bulk_job')
    assert.ok(await context.bulkJob.complete(job, AbortSignal.timeout(scaledTimeout(30_000))))
    return bulkJobs.get(jobId, 'bulk_job')
  }
  const deleteInBulk = async (call: Call, id: string) => {
    const selector = { contactIds: [id], emails: [] }
    return ended(call, (await bulk(context).deleteContacts(selector, call)) as { jobId: string })
  }
  const undo = async (call: Call, { _id }: BulkJob) =>
    ended(call, (await bulk(context).undoBulkJob({ jobId: String(_id) }, call)) as { jobId: string })

  it('erases an earlier contact of its address that was deleted in bulk', async () => {
    const call = newCall()
    const { contacts: all, history, emails } = context.collections.of(call.caller.organizationId)
    const earlier = await create(call, address)
    await emails.insertOne({ contact: earlier.id, emailId: 'e', to: address, status: 'sent', at: new Date() })
    const other = await create(call, 'other@example.com')
    const deletions = [await deleteInBulk(call, earlier.id), await deleteInBulk(call, other.id)]
    const { id } = await create(call, address)
    await ended(call, (await contacts(context).eraseContact({ id }, call)) as { jobId: string })
    const left = [await history.find({ person: { $ne: other.id } }), await emails.find({})]
    assert.deepEqual(left, [[], []])
    for (const deletion of deletions) await undo(call, deletion)
    assert.deepEqual(
      (await all.find({})).map(({ _id }) => String(_id)),
      [other.id],
    )
  })

  it('erases a contact that is deleted before its first step', async () => {
    const call = newCall()
    const { id } = await create(call, 'former@example.com')
    const { updateContact, eraseContact, deleteContact } = contacts(context)
    await updateContact({ id, email: address, name: 'One', unsubscribed: true }, call)
    const { promise, resolve: open } = Promise.withResolvers<void>()
    gate = promise
    const started = (await eraseContact({ id }, call)) as { jobId: string }
    await deleteContact({ id }, call)
    open()
    const { identity, erasure } = await ended(call, started)
    assert.deepEqual([identity, erasure], [null, null])
    const [person] = erased.filter(({ contactId }) => contactId === id)
    const { emailKeys, names } = person!
    assert.deepEqual([emailKeys.toSorted(), names], [['former@example.com', emailKeyOf(address)], ['One']])
    const again = await create(call, address)
    assert.ok((await context.collections.of(call.caller.organizationId).contacts.get(again.id, 'contact')).unsubscribed)
  })

  it('fails rows of imports from the request to its end, and keeps nothing of them', async t => {
    const call = newCall()
    const { contacts: all, batches } = context.collections.of(call.caller.organizationId)
    const importRow = (row: number, email: string) => ({
      row,
      email,
      name: 'One',
      attributes: {},
      tags: [],
      clearTags: false,
    })
    const importRows = async () => {
      const rows = [importRow(1, 'ONE@example.com'), importRow(2, 'two@example.com'), importRow(3, address)]
      const request = { jobId: String(new Types.ObjectId()), number: 0, tags: [], listIds: [], rows }
      const { outcomes, failures } = await applyBatch(context, { ...request, duplicateStrategy: 'update' }, call)
      return [...outcomes, ...failures.map(({ row, field, value, code }) => [row, field, value, code])]
    }
    const failures = [1, 3].map(row => [row, 'email', '', 'erased'])
    const { id } = await create(call, address)
    const [step, round] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    t.after(() => {
      for (const { resolve } of [step, round]) resolve()
    })
    gate = step.promise
    const started = (await contacts(context).eraseContact({ id }, call)) as { jobId: string }
    assert.deepEqual(await importRows(), ['FAILED', 'CREATED', 'FAILED', ...failures])
    const reached = Promise.withResolvers<void>()
    whileErasing = async () => {
      reached.resolve()
      await round.promise
    }
    step.resolve()
    await reached.promise
    assert.deepEqual(await importRows(), ['FAILED', 'UNCHANGED', 'FAILED', ...failures])
    assert.doesNotMatch(JSON.stringify(await batches.find({})), /one@example/i)
    round.resolve()
    await ended(call, started)
    assert.deepEqual(
      (await all.find({})).map(({ email }) => email),
      ['two@example.com'],
    )
    assert.deepEqual(await importRows(), ['SKIPPED', 'UNCHANGED', 'CREATED'])
  })

  it('opts out whom the undo of a bulk deletion brings back', async () => {
    const call = newCall()
    const { organizationId } = call.caller
    const { id } = await create(call, address)
    const deletion = await deleteInBulk(call, id)
    await context.store.transaction(tx => keepOptOuts(context, organizationId, [emailKeyOf(address)], tx))
    await undo(call, deletion)
    const restored = await context.collections.of(organizationId).contacts.get(id, 'contact')
    assert.ok(restored.unsubscribed && restored.unsubscribedAt)
  })

  const signUp = {
    id: String(new Types.ObjectId()),
    email: address,
    name: '',
    attributes: {},
    tags: [],
    lists: [],
    collectionId: 'c'.repeat(24),
    entryId: 'e'.repeat(24),
    form: 'Newsletter',
    at: '2026-05-01T09:00:00.000Z',
    confirmation: { at: '2026-05-01T10:00:00.000Z', ip: '192.0.2.9', text: 'I agree' },
  }
  for (const [how, subscribe] of Object.entries({
    'confirms a sign-up': (call: Call) => applySignUp(context, signUp, call),
    'subscribes again by the link of a mail': (call: Call, contactId: string) =>
      preferenceChanger(context)(
        { contactId, how: 'link', emailId: '', unsubscribed: false, leave: [], rejoin: [] },
        call,
      ),
  }))
    it(`forgets the opt-out once the person ${how}`, async () => {
      const call = newCall()
      const { organizationId } = call.caller
      await context.store.transaction(tx => keepOptOuts(context, organizationId, [emailKeyOf(address)], tx))
      const { id } = await create(call, address)
      const { contacts: all } = context.collections.of(organizationId)
      assert.ok((await all.get(id, 'contact')).unsubscribed)
      await subscribe({ ...call, caller: serviceCaller('content', organizationId) }, id)
      await undo(call, await deleteInBulk(call, id))
      assert.equal((await all.get(id, 'contact')).unsubscribed, false)
    })
})
