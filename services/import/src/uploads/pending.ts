import { AppError } from '@rollcall/contract'
import { backoffMs, pause } from '@rollcall/runtime'
import { isDuplicate } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { unfinished } from '../imports/import.model.ts'
import type { Pending, PendingUpload } from './pending.model.ts'
import { CHUNK_BYTES } from './upload.model.ts'

/** Space is reserved this far ahead of the bytes that arrive, so that not every chunk causes a write. */
const STEP_BYTES = CHUNK_BYTES
/** A start just before the expiry may still be running after it. */
const START_SLACK_MS = 60_000
const RETRY_AFTER_SECONDS = 60
const contention = { baseMs: 2, maxMs: 50 }
const MAX_ATTEMPTS = 100

/** The reserved space of an upload, in bytes. */
export type Room = {
  /**
   * Ensures space for this many bytes in total, and moves the expiry while they arrive.
   * @throws {AppError} quota.too_many_pending
   */
  take(bytes: number): Promise<void>
  /** Reduces the reservation to the bytes received, until the upload expires. */
  settle(expiresAt: Date): Promise<void>
}

/**
 * Reserves space for an upload in the quota of its organization. First deletes expired uploads and their files.
 * @throws {AppError} quota.too_many_pending
 */
export async function reserveRoom(context: Context, collections: Tenant, upload: Types.ObjectId): Promise<Room> {
  const { now, uploadTtlMs, quotas } = context
  const expired = await dropExpired(collections, now() - START_SLACK_MS)
  let taken = 0
  let reserved = 0

  const resize = (bytes: number) => (uploads: readonly PendingUpload[]) => {
    const others = uploads.filter(other => !other.upload.equals(upload) && !expired.has(String(other.upload)))
    const free = quotas.pendingUploadBytes - others.reduce((sum, other) => sum + other.bytes, 0)
    if (others.length >= quotas.pendingUploads) throw tooMany(quotas.pendingUploads, 'pending uploads')
    if (bytes > free) throw tooMany(quotas.pendingUploadBytes, 'bytes of pending uploads')
    reserved = Math.min(bytes + STEP_BYTES, free)
    return [...others, { upload, bytes: reserved, expiresAt: new Date(now() + uploadTtlMs) }]
  }
  await change(collections, resize(1))
  return {
    async take(bytes) {
      taken = bytes
      if (bytes > reserved) await change(collections, resize(bytes))
    },
    settle: expiresAt =>
      change(collections, uploads =>
        uploads.map(each => (each.upload.equals(upload) ? { upload, bytes: taken, expiresAt } : each)),
      ),
  }
}

/** Releases the space of an upload that was started or did not arrive. */
export async function releaseRoom(collections: Tenant, upload: Types.ObjectId): Promise<void> {
  await change(collections, uploads => uploads.filter(each => !each.upload.equals(upload)))
}

function tooMany(limit: number, what: string): AppError {
  return new AppError('quota.too_many_pending', {
    limit,
    what: `${what} per organization`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

/** Deletes the files of uploads that expired before, except those that a job still reads. @returns the ids deleted */
async function dropExpired(collections: Tenant, before: number): Promise<Set<string>> {
  const { pending, imports, chunks, uploads } = collections
  const record = await pending.findOne({})
  const expired = (record?.uploads ?? []).filter(({ expiresAt }) => expiresAt.getTime() <= before)
  if (expired.length === 0) return new Set()
  const ids = expired.map(({ upload }) => upload)
  const read = await imports.find({ upload: { $in: ids }, state: { $in: unfinished } }, { projection: { upload: 1 } })
  const gone = ids.filter(id => !read.some(({ upload }) => upload.equals(id)))
  await chunks.deleteMany({ upload: { $in: gone } })
  await uploads.deleteMany({ _id: { $in: gone } })
  return new Set(gone.map(String))
}

type Change = (uploads: readonly PendingUpload[]) => PendingUpload[]

/** Applies a change to the current record; of two concurrent changes, the later one is retried. */
async function change({ pending }: Tenant, next: Change): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const record = await pending.findOne({})
    if (await write(pending, record, next(record?.uploads ?? []))) return
    await pause(backoffMs(attempt, contention))
  }
  throw new AppError(
    'service.unavailable',
    {},
    { cause: new Error('too many uploads of the organization change at once') },
  )
}

async function write(pending: Tenant['pending'], record: Pending | null, uploads: PendingUpload[]) {
  if (record) {
    const { _id, revision } = record
    const changes = { $set: { uploads, revision: revision + 1 } }
    return (await pending.updateOne({ _id, revision }, changes)).matchedCount > 0
  }
  try {
    await pending.insertOne({ uploads, revision: 1 })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}
