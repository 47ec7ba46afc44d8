import { AppError, isObjectId } from '@rollcall/contract'
import { objectId, type Scope } from '@rollcall/store'
import type { Import } from './import.model.ts'
import { computedFields, type ShownImport } from './import-view.ts'

/** Finds the job of this id, without its row statuses. A malformed id is an unknown one. @throws {AppError} not_found */
export async function findImport(imports: Scope<Import>, jobId: string): Promise<Import> {
  const job = isObjectId(jobId) ? await imports.findOne({ _id: jobId }, { projection: { fates: 0 } }) : null
  return job ?? notFound()
}

/** Finds a job with its computed fields. @throws {AppError} not_found */
export async function findShownImport(imports: Scope<Import>, jobId: string): Promise<ShownImport> {
  if (!isObjectId(jobId)) notFound()
  const [job] = await imports.aggregate<ShownImport>([{ $match: { _id: objectId(jobId) } }, ...computedFields()])
  return job ?? notFound()
}

function notFound(): never {
  throw new AppError('import_job.not_found')
}
