import { type HttpBody, json } from '@rollcall/contract'
import { csvBody, errorFile } from '@rollcall/csv'
import type { Handlers } from '@rollcall/rpc'
import { runList, type Scope } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { uploadImport } from '../uploads/upload-import.ts'
import { cancelImport } from './cancel-import.ts'
import { findImport, findShownImport } from './find-import.ts'
import type { FailedRow, Import } from './import.model.ts'
import { computedFields, importFields, presentImport, resultOf } from './import-view.ts'
import { startImport } from './start-import.ts'
import { undoImport } from './undo-import.ts'

/** The use cases of imports. */
export function imports(context: Context): Handlers<'rollcall.import.v1.Imports'> {
  return {
    uploadImport: (requests, call) => uploadImport(context, requests, call),

    startImport: (request, call) => startImport(context, request, call),

    async getImportStatus({ jobId }, { caller }) {
      const job = await findShownImport(context.collections.of(caller.organizationId).imports, jobId)
      const { state, failedReason, shown } = job
      return json({ state, progress: shown.progress, result: resultOf(job), failedReason })
    },

    async listImportJobs({ list }, { caller }) {
      const scope = context.collections.of(caller.organizationId).imports
      return runList({
        scope,
        stages: computedFields(),
        query: list ?? {},
        fields: importFields,
        present: presentImport,
      })
    },

    async downloadImportErrors({ jobId }, { caller }) {
      const { imports: scope, failedRows } = context.collections.of(caller.organizationId)
      const job = await findImport(scope, jobId)
      return downloadErrors(job, failedRows)
    },

    cancelImport: (request, call) => cancelImport(context, request, call),

    undoImport: (request, call) => undoImport(context, request, call),
  }
}

const ERROR_FILE_CHUNK = 500

/** Streams the failed rows, with the errors in columns that an import ignores: to be corrected and uploaded again. */
async function* downloadErrors(
  { _id, format, mapping, checkpoint }: Import,
  failedRows: Scope<FailedRow>,
): AsyncGenerator<HttpBody> {
  const file = errorFile(
    format.headers,
    mapping.map(([header]) => header),
  )
  yield csvBody(`\uFEFF${file.head}`)
  let lines = ''
  let count = 0
  for await (const failed of failedRowsOf(failedRows, _id, checkpoint.row)) {
    lines += file.lineOf(failed)
    if (++count % ERROR_FILE_CHUNK > 0) continue
    yield csvBody(lines)
    lines = ''
  }
  if (lines !== '') yield csvBody(lines)
}

/** Rows after the checkpoint do not count: a batch that was aborted may have written them. */
function failedRowsOf(failedRows: Scope<FailedRow>, job: Types.ObjectId, lastRow: number): AsyncIterable<FailedRow> {
  return failedRows.stream([{ $match: { job, row: { $lte: lastRow } } }, { $sort: { row: 1 } }])
}
