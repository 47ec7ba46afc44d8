import { AppError, isObjectId, type RecordKind } from '@rollcall/contract'
import {
  type AnyBulkWriteOperation,
  type ClientSession,
  type Model,
  type mongo,
  type PipelineStage,
  Types,
} from 'mongoose'
import { translateErrors } from './errors.ts'
import { type RawRecords, type ReadCommand, readReply } from './raw-records.ts'
import { READ_MS, STREAM_MS } from './read-limits.ts'
import { readTogether } from './reads-together.ts'

/** A condition on fields of the stored record. Ids may be given as text. */
export type Filter = object
/** Fields in their order, each ascending (1) or descending (-1). */
export type SortOrder = Readonly<Record<string, 1 | -1>>
/** What inserting takes: the organization and the times are set here, the rest falls back to the schema's defaults. */
export type Draft<T> = { [K in Exclude<keyof T, 'organization'>]?: Given<T[K]> | undefined }
/** Ids may be given as text. */
type Given<V> = V | (Types.ObjectId extends V ? string : never)

/** The id of a record; text of 24 hexadecimal digits, or `request.invalid_field`. */
type Id = Types.ObjectId | string

/** The transaction an operation belongs to; without it that of the scope, if any. */
export type WithTx = { tx?: ClientSession | undefined }
/**
 * How long the server may work on a read before it gives up with `service.unavailable`. Default 10 s; of a stream 10
 * min in all.
 */
export type Timed = { maxTimeMs?: number | undefined }
/** Which changes a read outside a transaction may see. Default: all that the primary has. */
export type WithReadConcern = {
  /** `majority`: only changes that no failover rolls back. */
  readConcern?: 'majority' | undefined
}
export type ReadOptions = WithTx &
  WithReadConcern &
  Timed & {
    sort?: SortOrder
    skip?: number
    limit?: number
    projection?: Readonly<Record<string, 0 | 1>>
    /** Documents fetched at once; for cursors. */
    batchSize?: number
  }
export type UpdateOptions = WithTx & {
  upsert?: boolean
  /** Default true. False leaves `updatedAt` as it is: for fields outside the public record. */
  timestamps?: boolean
  arrayFilters?: Record<string, unknown>[]
}

/**
 * One collection as one organization sees it: the tenant clause stands first in every operation, and none is possible
 * without it. Reads answer plain objects. A duplicate at a unique index throws `record.duplicate`, a malformed id
 * `request.invalid_field`.
 */
export type Scope<T> = {
  readonly organization: Types.ObjectId
  readonly model: Model<T>
  find(filter?: Filter, options?: ReadOptions): Promise<T[]>
  findOne(filter: Filter, options?: ReadOptions): Promise<T | null>
  /**
   * Returns the record of an id. Without options and transaction, reads of the same turn share a command.
   * @throws {AppError} `<kind>.not_found`
   */
  get(id: Id, kind: RecordKind, options?: ReadOptions): Promise<T>
  count(filter?: Filter, options?: WithTx & Timed): Promise<number>
  /** Validates, fills in defaults, answers the record as stored. */
  insertOne(draft: Draft<T>, options?: WithTx): Promise<T>
  insertMany(drafts: readonly Draft<T>[], options?: WithTx): Promise<T[]>
  updateOne(filter: Filter, update: object, options?: UpdateOptions): Promise<mongo.UpdateResult>
  updateMany(filter: Filter, update: object, options?: UpdateOptions): Promise<mongo.UpdateResult>
  /** Answers the record as it was before, or as it is after (the default). */
  findOneAndUpdate(
    filter: Filter,
    update: object,
    options?: UpdateOptions & { returnDocument?: 'before' | 'after' },
  ): Promise<T | null>
  /**
   * Changes fields by deleting and inserting the record again, in a transaction: for fields of a unique index whose old
   * value must be free at once: some servers free it only after an update's transaction. Answers the record as it is after.
   */
  rewriteOne(filter: Filter, changes: Draft<T>, options: { tx: ClientSession }): Promise<T | null>
  deleteOne(filter: Filter, options?: WithTx): Promise<mongo.DeleteResult>
  deleteMany(filter: Filter, options?: WithTx): Promise<mongo.DeleteResult>
  findOneAndDelete(filter: Filter, options?: WithTx): Promise<T | null>
  /** Values must be of the stored types (ObjectId, Date). Stages that reach into other collections are refused. */
  aggregate<R extends object = Record<string, unknown>>(
    pipeline: PipelineStage[],
    options?: WithTx & Timed,
  ): Promise<R[]>
  /**
   * Documents in BSON, in any order, in the one reply that the server sends; undefined if they are too large for one (16
   * MiB). Values as for `aggregate`.
   */
  findReply(filter: Filter, options?: WithTx & Timed): Promise<RawRecords | undefined>
  /** As `aggregate`, with documents in BSON in one reply; undefined if they are too large for one (16 MiB). */
  aggregateReply(pipeline: PipelineStage[], options?: WithTx & Timed): Promise<RawRecords | undefined>
  /**
   * Documents as the server sends them, in BSON and in any order, by its replies (16 MiB at most); values as for
   * `aggregate`. `documentReader` reads them.
   */
  findRaw(
    filter: Filter,
    options?: WithTx & Timed & WithReadConcern & { batchSize?: number },
  ): AsyncIterable<Uint8Array[]>
  /** As `aggregate`, with documents as the server sends them, by its replies. */
  aggregateRaw(
    pipeline: PipelineStage[],
    options?: WithTx & Timed & { batchSize?: number },
  ): AsyncIterable<Uint8Array[]>
  /** Streams a pipeline's documents in constant memory; as `aggregate`. With `promoteBuffers`, binary values are buffers. */
  stream<R extends object>(
    pipeline: PipelineStage[],
    options?: WithTx & Timed & WithReadConcern & { batchSize?: number; promoteBuffers?: boolean },
  ): AsyncIterable<R>
  /**
   * Many writes in one call, straight to the driver: documents and values must be complete and of the stored types.
   * Unordered by default. Returns undefined if there is nothing to write.
   */
  bulkWrite(
    operations: readonly BulkOperation[],
    options?: WithTx & { ordered?: boolean; timestamps?: boolean },
  ): Promise<mongo.BulkWriteResult | undefined>
}

/** One write of `bulkWrite`, as the driver takes it. */
export type BulkOperation = AnyBulkWriteOperation

/** Returns the write that inserts a document. */
export function insertOf(document: object): BulkOperation {
  return { insertOne: { document } }
}

type Doc = Record<string, unknown>

/** Whole documents in few answers, left as they come. */
const raw = { raw: true, batchSize: 10_000 } as const

/** What keeps a read or update to fields the schema knows: a misspelt one throws. */
const strict = { strict: 'throw', strictQuery: 'throw', lean: true, timestamps: false } as const

/** The view that one organization has of a collection; with `tx` its operations belong to that transaction. */
export function scoped<T>(model: Model<T>, organizationId: string | Types.ObjectId, tx?: ClientSession): Scope<T> {
  const organization = objectId(organizationId, 'organization')
  const driven = <O extends WithTx>(options: O) => driverOptions(options, tx)
  const timed = <O extends WithTx & Timed>({ maxTimeMs = READ_MS, ...options }: O) => ({
    ...driven(options),
    maxTimeMS: Math.max(1, Math.ceil(maxTimeMs)),
  })
  const within = (filter: Filter = {}) => ({ ...tenantFirst(organization, filter) }) as never
  const reply = (command: ReadCommand, options: WithTx & Timed = {}) => readReply(model.db.db!, command, timed(options))
  const stamped = (update: object, stamping: Stamping) => stampUpdate(model, update, stamping)

  const insertMany: Scope<T>['insertMany'] = async (drafts, { tx } = {}) => {
    if (drafts.length === 0) return []
    const docs = await translateErrors(Promise.all(drafts.map(draft => toDocument(model, { ...draft, organization }))))
    await translateErrors(model.collection.insertMany(docs as mongo.Document[], { ordered: true, ...driven({ tx }) }))
    return docs as T[]
  }

  const findOneAndDelete: Scope<T>['findOneAndDelete'] = (filter, options = {}) =>
    translateErrors(
      model.findOneAndDelete(within(filter), { ...strict, ...driven(options) }).exec(),
    ) as Promise<T | null>

  const findOne: Scope<T>['findOne'] = (filter, { projection, ...options } = {}) =>
    translateErrors(
      model.findOne(within(filter), projection, { ...strict, ...timed(options) }).exec(),
    ) as Promise<T | null>

  return {
    organization,
    model,
    find: (filter, { projection, ...options } = {}) =>
      translateErrors(model.find(within(filter), projection, { ...strict, ...timed(options) }).exec()) as Promise<T[]>,
    findOne,
    async get(id, kind, options) {
      const isPlain = tx === undefined && options === undefined
      const record = isPlain
        ? await readTogether(model, organization, objectId(id))
        : await findOne({ _id: id }, options)
      if (!record) throw new AppError(`${kind}.not_found`)
      return record
    },
    count: (filter, options = {}) =>
      translateErrors(model.countDocuments(within(filter), { ...strict, ...timed(options) }).exec()),
    insertOne: async (draft, options) => (await insertMany([draft], options))[0]!,
    insertMany,
    updateOne: (filter, update, { timestamps, ...options } = {}) =>
      translateErrors(
        model
          .updateOne(within(filter), stamped(update, { upsert: options.upsert, timestamps }), {
            ...strict,
            ...driven(options),
          })
          .exec(),
      ),
    updateMany: (filter, update, { timestamps, ...options } = {}) =>
      translateErrors(
        model
          .updateMany(within(filter), stamped(update, { upsert: options.upsert, timestamps }), {
            ...strict,
            ...driven(options),
          })
          .exec(),
      ),
    findOneAndUpdate: (filter, update, { returnDocument = 'after', timestamps, ...options } = {}) =>
      translateErrors(
        model
          .findOneAndUpdate(within(filter), stamped(update, { upsert: options.upsert, timestamps }), {
            ...strict,
            returnDocument,
            ...driven(options),
          })
          .exec(),
      ) as Promise<T | null>,
    deleteOne: (filter, options = {}) =>
      translateErrors(model.deleteOne(within(filter), { ...strict, ...driven(options) }).exec()),
    deleteMany: (filter, options = {}) =>
      translateErrors(model.deleteMany(within(filter), { ...strict, ...driven(options) }).exec()),
    findOneAndDelete,
    async rewriteOne(filter, changes, { tx }) {
      const record = await findOneAndDelete(filter, { tx })
      if (!record) return null
      const [rewritten] = await insertMany([{ ...record, updatedAt: new Date(), ...changes }], { tx })
      return rewritten!
    },
    aggregate: <R extends object>(pipeline: PipelineStage[], options: WithTx & Timed = {}) =>
      translateErrors(model.collection.aggregate<R>(tenantPipeline(organization, pipeline), timed(options)).toArray()),
    findReply: (filter, options) => reply({ find: model.collection.name, filter: within(filter) }, options),
    aggregateReply: (pipeline, options) =>
      reply({ aggregate: model.collection.name, pipeline: tenantPipeline(organization, pipeline) }, options),
    findRaw: (filter, options = {}) => repliesOf(model.collection.find(within(filter), { ...raw, ...timed(options) })),
    aggregateRaw: (pipeline, options = {}) =>
      repliesOf(model.collection.aggregate(tenantPipeline(organization, pipeline), { ...raw, ...timed(options) })),
    stream: <R extends object>(pipeline: PipelineStage[], { maxTimeMs = STREAM_MS, ...options } = {}) =>
      streamOf<R>(
        model.collection.aggregate(
          tenantPipeline(organization, pipeline),
          timed({ maxTimeMs, ...options }),
        ) as mongo.AggregationCursor<R>,
      ),
    bulkWrite: async (operations, { tx, ordered = false, timestamps = true } = {}) => {
      if (operations.length === 0) return undefined // the driver refuses to write nothing
      const writes = operations.map(operation => tenantWrite(model, organization, operation, timestamps))
      return translateErrors(model.collection.bulkWrite(writes as never, { ordered, ...driven({ tx }) }))
    },
  }
}

/** An ObjectId from its 24 hexadecimal digits; throws `request.invalid_field` for anything else. */
export function objectId(value: unknown, path = 'id'): Types.ObjectId {
  if (value instanceof Types.ObjectId) return value
  if (typeof value === 'string' && isObjectId(value)) return new Types.ObjectId(value)
  throw new AppError('request.invalid_field', { path })
}

/**
 * The tenant clause beside the conditions, not around them: top-level conditions are a conjunction, and an `$and`
 * around them would hide the index from some planners. The spread keeps a key named `__proto__` a plain key.
 */
export function tenantFirst(organization: Types.ObjectId, filter: Filter): Doc {
  return Object.assign({ organization, ...filter }, { organization })
}

/** Stages that read or write beyond the collection, and so beyond the tenant clause. */
const foreign = new Set([
  '$lookup',
  '$graphLookup',
  '$unionWith',
  '$out',
  '$merge',
  '$geoNear',
  '$collStats',
  '$indexStats',
])

function tenantPipeline(organization: Types.ObjectId, pipeline: PipelineStage[]): Doc[] {
  const [first, ...rest] = pipeline as unknown as Doc[]
  refuseForeign(pipeline as unknown as Doc[])
  if (first && '$match' in first) return [{ $match: tenantFirst(organization, first.$match as Filter) }, ...rest]
  return [{ $match: { organization } }, ...(first ? [first, ...rest] : [])]
}

function refuseForeign(pipeline: readonly Doc[]): void {
  for (const stage of pipeline) {
    const name = Object.keys(stage)[0] ?? ''
    if (foreign.has(name)) throw new Error(`${name} is not possible within an organization`)
    if (name === '$facet')
      for (const inner of Object.values(stage.$facet as Record<string, Doc[]>)) refuseForeign(inner)
  }
}

async function* repliesOf(cursor: mongo.FindCursor | mongo.AggregationCursor): AsyncIterable<Uint8Array[]> {
  try {
    for (;;) {
      const first = await translateErrors<unknown>(cursor.next())
      if (first === null) return
      yield [first, ...cursor.readBufferedDocuments()] as Uint8Array[]
    }
  } finally {
    await cursor.close().catch(() => undefined)
  }
}

async function* streamOf<R>(cursor: mongo.AggregationCursor<R>): AsyncIterable<R> {
  try {
    for (;;) {
      const doc = await translateErrors(cursor.next())
      if (doc === null) return
      yield doc
    }
  } finally {
    await cursor.close().catch(() => undefined)
  }
}

function tenantWrite<T>(
  model: Model<T>,
  organization: Types.ObjectId,
  operation: BulkOperation,
  timestamps: boolean,
): Doc {
  const [[name, write]] = Object.entries(operation) as [[string, Doc]]
  if (name === 'insertOne')
    return { insertOne: { document: stampInsert(model, { ...(write.document as Doc), organization }) } }
  const filter = tenantFirst(organization, write.filter as Filter)
  if (name === 'replaceOne') {
    return {
      replaceOne: {
        ...write,
        filter,
        replacement: stampInsert(model, { ...(write.replacement as Doc), organization }),
      },
    }
  }
  if (name === 'deleteOne' || name === 'deleteMany') return { [name]: { ...write, filter } }
  const update = stampUpdate(model, write.update as object, { upsert: write.upsert === true, timestamps })
  return { [name]: { ...write, filter, update } }
}

/** A draft as it is stored: cast, validated, defaults filled in. */
async function toDocument<T>(model: Model<T>, draft: Doc): Promise<Doc> {
  const document = new model(stampInsert(model, draft))
  await document.validate()
  return document.toObject({ versionKey: false, depopulate: true }) as Doc
}

function stampInsert<T>(model: Model<T>, document: Doc): Doc {
  const now = new Date()
  const times: Doc = {}
  if (model.schema.path('createdAt')) times.createdAt = document.createdAt ?? now
  if (model.schema.path('updatedAt')) times.updatedAt = document.updatedAt ?? times.createdAt ?? now
  return { ...document, ...times }
}

type Stamping = { upsert?: boolean | undefined; timestamps?: boolean | undefined }

function stampUpdate<T>(model: Model<T>, update: object, { upsert = false, timestamps = true }: Stamping): Doc {
  const operators = update as Record<string, Doc>
  for (const [operator, fields] of Object.entries(operators)) {
    if (!operator.startsWith('$')) throw new Error(`an update is made of operators, not of ${operator}`)
    if (Object.hasOwn(fields, 'organization')) throw new Error('a record never changes its organization')
  }
  const now = new Date()
  const stamped: Doc = { ...operators }
  if (model.schema.path('updatedAt') && timestamps) stamped.$set = { updatedAt: now, ...operators.$set }
  if (upsert && model.schema.path('createdAt')) stamped.$setOnInsert = { createdAt: now, ...operators.$setOnInsert }
  return stamped
}

/** Options as the driver takes them: a transaction is its session, and an undefined option is not a missing one. */
function driverOptions<O extends WithTx>({ tx, ...options }: O, outer: ClientSession | undefined) {
  const given = { ...options, session: tx ?? outer }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<typeof given>
}

type Defined<O> = { [K in keyof O]: Exclude<O[K], undefined> }
