import { AppError, updated } from '@rollcall/contract'
import type { ImportJobRequest } from '@rollcall/protos/gen/import-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Call } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { abortImport } from './abort-import.ts'
import { findImport } from './find-import.ts'
import { queueIdOf } from './import.job.ts'
import { CANCELLED_REASON, unfinished } from './import.model.ts'

/** Cancels a job. While the audience is down, the batches in flight are left to the worker. */
export async function cancelImport(context: Context, { jobId }: ImportJobRequest, call: Call): Promise<Updated> {
  const collections = context.collections.of(call.caller.organizationId)
  const { imports } = collections
  const { _id, kind } = await findImport(imports, jobId)
  if (kind === 'undo') throw new AppError('import.not_cancellable')
  // The new fence stops the worker of the job at its next checkpoint.
  const mark = { $set: { cancelled: true, failures: 0 }, $inc: { fence: 1 } }
  const job = await imports.findOneAndUpdate({ _id, state: { $in: unfinished } }, mark)
  if (!job) throw new AppError('import.finished')
  try {
    await abortImport(context, collections, job, CANCELLED_REASON, call)
  } catch (err) {
    context.logger.warn({ job: jobId, err }, 'cancelling batches in flight failed, left to the worker')
    await context.queue.enqueue(queueIdOf(call.caller.organizationId))
  }
  return updated()
}
