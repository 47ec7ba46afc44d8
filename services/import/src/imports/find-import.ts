import { AppError, isObjectId } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { Import } from './import.model.ts'

/** The job of this id, but for what only its work needs. A malformed id is an unknown one. @throws {AppError} not_found */
export async function findImport(imports: Scope<Import>, jobId: string): Promise<Import> {
  if (!isObjectId(jobId)) throw new AppError('import_job.not_found')
  return imports.get(jobId, 'import_job', { projection: { fates: 0 } })
}
