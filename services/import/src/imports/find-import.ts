import { AppError, isObjectId } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { Import } from './import.model.ts'

/** The job of this id, but for what only its work needs. A malformed id is an unknown one. @throws {AppError} not_found */
export async function findImport(imports: Scope<Import>, jobId: string): Promise<Import> {
  const job = isObjectId(jobId) ? await imports.findOne({ _id: jobId }, { projection: { fates: 0 } }) : null
  if (!job) throw new AppError('import_job.not_found')
  return job
}
