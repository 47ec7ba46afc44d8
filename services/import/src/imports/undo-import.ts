import { AppError } from '@rollcall/contract'
import type { ImportJobRequest, StartImportResponse } from '@rollcall/protos/gen/import-v1.ts'
import { actorOf, type Call } from '@rollcall/rpc'
import { addEvents, event } from '@rollcall/store'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { findImport } from './find-import.ts'
import { queueIdOf } from './import.job.ts'
import { type Import, unfinished } from './import.model.ts'
import { noCounts } from './import-counters.ts'
import { insertJob } from './insert-job.ts'

/** Creates the job that undoes an import, once: the mark on the import and the job are one transaction. */
export async function undoImport(
  context: Context,
  { jobId }: ImportJobRequest,
  { caller }: Call,
): Promise<StartImportResponse> {
  const collections = context.collections.of(caller.organizationId)
  const { imports } = collections
  const { _id } = await findImport(imports, jobId)
  const undo = await context.store.transaction(async tx => {
    const job = await imports.findOne({ _id }, { tx })
    refuseUndo(job!)
    const undoneBy = new Types.ObjectId()
    await imports.updateOne({ _id }, { $set: { undoneBy } }, { tx })
    const undo = { ...undoOf(job!), _id: undoneBy, createdBy: actorOf(caller) }
    await insertJob(context, collections, undo, tx)
    const data = { jobId: _id, undoJobId: undoneBy, actor: undo.createdBy }
    await addEvents(tx, [event('audience.import_undo_started', job!, data)])
    return undoneBy
  })
  await context.queue.enqueue(queueIdOf(caller.organizationId))
  return { jobId: String(undo) }
}

function refuseUndo({ kind, state, undoneBy }: Import): void {
  if (kind !== 'import') throw new AppError('import.not_undoable')
  if (unfinished.includes(state)) throw new AppError('import.unfinished')
  if (undoneBy) throw new AppError('import.undone')
}

function undoOf({
  _id,
  upload,
  fileName,
  format,
  mapping,
  duplicateStrategy,
  emptyValues,
  tags,
  lists,
  counts,
}: Import) {
  const source = { upload, fileName, format, mapping, duplicateStrategy, emptyValues, tags, lists }
  const progress = { total: counts.created + counts.updated, checkpoint: format.start, counts: noCounts }
  return { ...source, ...progress, kind: 'undo' as const, undoes: _id }
}
