import { AppError } from '@rollcall/contract'
import { createTally } from '@rollcall/runtime'
import type { Connection, Schema } from 'mongoose'
import type { Scope } from './scope.ts'

/** Default time limit of a read on the server: as long as a client waits. */
export const READ_MS = 10_000
/** Time limit of all reads of a stream together. */
export const STREAM_MS = 600_000

/** Stored bytes of the records that a stream decodes at once; more only for a single larger record. */
export const STREAM_BYTES = 2 * 1024 * 1024

/** Mongoose plugin: gives reads that have no time limit on the server the default one. */
export function limitReads(schema: Schema, _options?: object): void {
  schema.pre(['find', 'findOne', 'countDocuments', 'distinct'], function () {
    if (this.getOptions().maxTimeMS === undefined) this.maxTimeMS(READ_MS)
  })
  schema.pre('aggregate', function () {
    this.options.maxTimeMS ??= READ_MS
  })
}

/** Limits of concurrent list reads in one process. */
export type ReadLimitOptions = {
  /** Lists with a filter or an order of the client's, of one organization. Default 32. */
  filteredReads?: number
  /** Streams (exports, lists without pages), of one organization. Default 8. */
  streams?: number
  /** Streams of all organizations. Default 16: each may hold some 30 MB where records are large. */
  allStreams?: number
}

/** What reads of lists run within. */
export type ReadLimits = {
  /** Runs a read that a client's filter or order takes part in. @throws {AppError} quota.too_many_pending */
  filtered<T>(organization: string, read: () => Promise<T>): Promise<T>
  /** Streams a list, from its first item on. @throws {AppError} quota.too_many_pending; service.unavailable if others use all streams */
  stream<T>(organization: string, items: AsyncIterable<T>): AsyncIterable<T>
}

const limitsByConnection = new WeakMap<Connection, ReadLimits>()

/** Returns the read limits of a connection; the defaults if none were set. */
export function readLimitsOf(connection: Connection, options: ReadLimitOptions = {}): ReadLimits {
  const known = limitsByConnection.get(connection)
  if (known) return known
  const limits = createReadLimits(options)
  limitsByConnection.set(connection, limits)
  return limits
}

/** Creates read limits. */
export function createReadLimits({ filteredReads = 32, streams = 8, allStreams = 16 }: ReadLimitOptions): ReadLimits {
  const filtering = createSlots({ limit: filteredReads, what: 'filtered lists at once per organization' })
  const streaming = createSlots({ limit: streams, what: 'streams at once per organization', limitOfAll: allStreams })
  return {
    async filtered(organization, read) {
      const release = filtering(organization)
      try {
        return await read()
      } finally {
        release()
      }
    },
    async *stream(organization, items) {
      const release = streaming(organization)
      try {
        yield* items
      } finally {
        release()
      }
    },
  }
}

type SlotOptions = { limit: number; what: string; limitOfAll?: number }

/** Acquires a slot of an organization; returns the function that releases it. */
function createSlots({ limit, what, limitOfAll = Number.POSITIVE_INFINITY }: SlotOptions) {
  const taken = createTally()
  let all = 0
  return (organization: string): (() => void) => {
    if (taken.of(organization) >= limit)
      throw new AppError('quota.too_many_pending', { limit, what, retryAfterSeconds: 1 })
    if (all >= limitOfAll) throw new AppError('service.unavailable', {}, { cause: new Error(`${all} ${what} in all`) })
    taken.add(organization, 1)
    all++
    return () => {
      taken.add(organization, -1)
      all--
    }
  }
}

/** A scope whose reads together end by a deadline, in milliseconds since the epoch: each gets what is left of it. */
export function until<T extends object>(scope: Scope<T>, deadline: number): Scope<T> {
  const left = () => {
    const maxTimeMs = deadline - Date.now()
    if (maxTimeMs > 0) return { maxTimeMs }
    throw new AppError('service.unavailable', {}, { cause: new Error('out of time for reads') })
  }
  return {
    ...scope,
    find: async (filter, options) => scope.find(filter, { ...left(), ...options }),
    findOne: async (filter, options) => scope.findOne(filter, { ...left(), ...options }),
    count: async (filter, options) => scope.count(filter, { ...left(), ...options }),
    aggregate: async (pipeline, options) => scope.aggregate(pipeline, { ...left(), ...options }),
    findReply: async (filter, options) => scope.findReply(filter, { ...left(), ...options }),
    aggregateReply: async (pipeline, options) => scope.aggregateReply(pipeline, { ...left(), ...options }),
    findRaw: (filter, options) => scope.findRaw(filter, { ...left(), ...options }),
    aggregateRaw: (pipeline, options) => scope.aggregateRaw(pipeline, { ...left(), ...options }),
    stream: (pipeline, options) => scope.stream(pipeline, { ...left(), ...options }),
  }
}
