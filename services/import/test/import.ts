import { AppError } from '@rollcall/contract'
import { defaultLimits } from '@rollcall/csv'
import type { JobQueue } from '@rollcall/jobs'
import type { ApplyBatchRequest, ApplyBatchResponse } from '@rollcall/protos/gen/audience-v1.ts'
import { type Call, serviceCaller } from '@rollcall/rpc'
import { createLogger, type Event } from '@rollcall/runtime'
import { connectStore, migrate } from '@rollcall/store'
import { dropDatabase } from '@rollcall/testing/drop-database'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { Types } from 'mongoose'
import { collections } from '../src/collections.ts'
import type { Context } from '../src/context.ts'
import { queueIdOf, runSlice } from '../src/imports/import.job.ts'
import type { Import } from '../src/imports/import.model.ts'
import { startImport } from '../src/imports/start-import.ts'
import { uploadImport } from '../src/uploads/upload-import.ts'

/** How the fake audience answers a batch. */
export type Answer = (request: ApplyBatchRequest) => Partial<ApplyBatchResponse> | Promise<Partial<ApplyBatchResponse>>

/** The import service without server and worker, with a fake audience. */
export type TestImport = {
  context: Context
  /** How the audience answers; by default it creates every row. */
  answer: Answer
  /** A call of a new organization. */
  newCall(): Call
  /** Uploads a file with the columns email and name, and starts its import. */
  start(call: Call, file: string, options?: object): Promise<string>
  /** Runs one time slice of the organization. */
  runSlice(call: Call, signal?: AbortSignal): ReturnType<typeof runSlice>
  job(call: Call, jobId: string): Promise<Import>
  /** The events of a job after its start, in order. */
  events(jobId: string): Promise<Event[]>
  stop(): Promise<void>
}

/** Answers that every row is created. */
export const createAll: Answer = ({ rows }) => ({ outcomes: rows.map(() => 'CREATED') })

/** Opens a new database on the server of the environment. */
export async function startTestImport(options: Partial<Context> = {}): Promise<TestImport> {
  const url = process.env.MONGODB_URL
  if (!url) throw new Error('MONGODB_URL is not set: run the tests by npm test')
  const logger = createLogger({ service: 'import', level: process.env.TEST_LOG_LEVEL ?? 'silent' })
  await using onFailure = new AsyncDisposableStack()
  const store = await connectStore({ url, dbName: `import-test-${new Types.ObjectId()}`, logger })
  onFailure.defer(store.close) // otherwise it keeps the process alive
  onFailure.defer(async () => void (await dropDatabase(store.connection)))
  const noQueue: JobQueue = { enqueue: async () => {}, cancel: async () => {}, close: async () => {} }
  const context: Context = {
    store,
    collections: collections(store),
    logger,
    attributes: {
      describeAttributes: async () => ({ definitions: [] }),
      listAttributes: notCalled,
      createAttribute: notCalled,
      updateAttribute: notCalled,
      deleteAttribute: notCalled,
    },
    batches: {
      applyBatch: async request => ({ ...nothingElse, ...(await test.answer(request)) }),
      undoBatch: notCalled,
      checkLists: async () => ({ unknown: [], archived: [] }),
    },
    batchTimeoutMs: scaledTimeout(60_000),
    queue: noQueue,
    limits: defaultLimits,
    maxUploadBytes: 2 ** 30,
    uploadTtlMs: 60_000,
    quotas: { pendingUploads: 1_000, pendingUploadBytes: 2 ** 40, unfinishedJobs: 1_000, dryRuns: 1_000 },
    now: Date.now,
    sliceMs: 60_000,
    ...options,
  }
  await migrate(store, logger)
  const all = onFailure.move()
  const test: TestImport = {
    context,
    answer: createAll,
    newCall: () => ({
      caller: serviceCaller('test', String(new Types.ObjectId())),
      requestId: 'test',
      deadline: Date.now() + 60_000,
      signal: new AbortController().signal,
      logger,
    }),
    async start(call, file, rest = {}) {
      const upload = await uploadImport(context, oneFile(file), call)
      const { importId, suggestedMapping } = JSON.parse(String(upload.data))
      return (await startImport(context, { importId, mapping: suggestedMapping, tags: [], listIds: [], ...rest }, call))
        .jobId
    },
    runSlice: ({ caller }, signal = new AbortController().signal) =>
      runSlice(context, queueIdOf(caller.organizationId), signal),
    job: async ({ caller }, jobId) =>
      (await context.collections.of(caller.organizationId).imports.findOne({ _id: jobId }))!,
    async events(jobId) {
      const entries = store.connection.collection<{ event: Event }>('outbox').find({ 'event.subject': jobId })
      const events = (await entries.toArray()).map(({ event }) => event)
      return events.filter(({ type }) => type !== 'audience.import_started')
    },
    stop: () => all.disposeAsync(),
  }
  return test
}

const nothingElse: ApplyBatchResponse = { outcomes: [], optOutsKept: 0, failures: [], addedToLists: 0, previews: [] }

async function* oneFile(text: string) {
  yield { fileName: 'test.csv', chunk: Buffer.from(text) }
}

function notCalled(): never {
  throw new AppError('service.unavailable', {})
}
