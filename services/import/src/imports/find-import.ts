import { AppError, isObjectId } from '@rollcall/contract'
import { objectId, type Scope } from '@rollcall/store'
import type { Import } from './import.model.ts'
import { computedFields, type ShownImport } from './import-view.ts'

/**
 * Finds the job of this id, without its row statuses. A malformed id counts as unknown.
 * @throws {AppError} import_job.not_found
 */
export async function findImport(imports: Scope<Import>, jobId: string): Promise<Import> {
  if (!isObjectId(jobId)) throw new AppError('import_job.not_found')
  return imports.get(jobId, 'import_job', { projection: { rowStatuses: 0 } })
}

/** Finds a job with its computed fields. @throws {AppError} import_job.not_found */
export async function findShownImport(imports: Scope<Import>, jobId: string): Promise<ShownImport> {
  if (!isObjectId(jobId)) throw new AppError('import_job.not_found')
  const [job] = await imports.aggregate<ShownImport>([{ $match: { _id: objectId(jobId) } }, ...computedFields()])
  if (!job) throw new AppError('import_job.not_found')
  return job
}
