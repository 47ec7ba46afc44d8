import { type Client, ConflictError, type ImportStatus } from '@rollcall/sdk'
import { openForUpload } from './files.ts'
import type { ImportTask, UndoTask } from './options.ts'
import { Problem } from './problem.ts'
import { createProgress, type Output } from './progress.ts'
import { count, reportOf } from './report.ts'
import { saveErrors } from './save-errors.ts'

/** The dependencies of a run. */
export type Run = {
  client: Client
  /** The gateway. */
  url: string
  /** For results. */
  out: Output
  /** For progress. */
  log: Output
  /** Asks the user; true without a terminal. */
  confirm(question: string): Promise<boolean>
  /** Fires when the job is to be cancelled. */
  interrupted: AbortSignal
}

const UPLOAD_RETRIES = 1

/** Uploads a file, starts its import, follows it and saves the failed rows. @returns whether it was completed */
export async function runImport(run: Run, task: ImportTask): Promise<boolean> {
  const { imports } = run.client
  const { out, log } = run
  const { file, mapping: given, settings, errorsFile, confirmed } = task
  const progress = createProgress(log, 'uploading')
  const opened = await openForUpload(file)
  const upload = await imports.upload(opened.file, {
    onProgress: share => progress.show(share, ''),
    signal: AbortSignal.any([run.interrupted, opened.broken]),
    maxRetries: UPLOAD_RETRIES,
  })
  progress.end()
  const { importId, rowCount, encoding, delimiter, duplicateEmails } = upload
  const repeated = duplicateEmails > 0 ? `, ${count(duplicateEmails)} with a duplicate email` : ''
  out.write(`${file}: ${count(rowCount)} rows${repeated}, ${encoding}, delimiter ${JSON.stringify(delimiter)}\n`)
  out.write(`upload ${importId}\n`)

  const mapping = given ?? upload.suggestedMapping
  if (!given) {
    out.write(`suggested mapping:\n${mappingLines(upload.headers, mapping)}\n`)
    if (!confirmed && !(await run.confirm('start with this mapping?'))) throw new Problem('not started')
  }
  const kind = settings.dryRun ? 'dry run' : 'import'
  const { jobId } = await imports.start({ importId, mapping, ...settings })
  out.write(`${kind} ${jobId}: started\n`)
  const status = await follow(run, jobId, settings.dryRun ? 'dry run' : 'importing')
  report(run, status, kind, jobId)
  if (status.result.failed > 0) {
    await saveErrors(run.client, jobId, errorsFile, run.url + status.result.errorsUrl)
    out.write(`failed rows, with the reasons: ${errorsFile}\n`)
  }
  return status.state === 'completed'
}

/** Undoes an import. @returns whether the undo was completed */
export async function runUndo(run: Run, { jobId }: UndoTask): Promise<boolean> {
  const { jobId: undoId, isNew } = await undo(run.client, jobId)
  run.out.write(isNew ? `undo ${undoId}: started\n` : `the import was already undone, by ${undoId}\n`)
  const status = await follow(run, undoId, 'undoing')
  report(run, status, 'undo', undoId)
  return status.state === 'completed'
}

function mappingLines(headers: readonly string[], mapping: Record<string, string>): string {
  const width = Math.max(...headers.map(header => header.length))
  return headers.map(header => `  ${header.padEnd(width)}  ${mapping[header] ?? '-'}`).join('\n')
}

/** Undoes an import. Returns the new job, or the one that was started before. */
async function undo({ imports }: Client, jobId: string): Promise<{ jobId: string; isNew: boolean }> {
  try {
    return { ...(await imports.undo(jobId)), isNew: true }
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    const { docs } = await imports.listJobs({ filter: { _id: jobId } })
    const undoneBy = docs[0]?.undoneBy
    if (!undoneBy) throw error
    return { jobId: undoneBy, isNew: false }
  }
}

/** Waits for a job and shows its progress. Cancels it, once interrupted, and waits for its end. */
async function follow({ client: { imports }, log, interrupted }: Run, jobId: string, name: string) {
  const progress = createProgress(log, name)
  const onProgress = ({ progress: percent, result: { rowsPerSecond, total } }: ImportStatus) =>
    progress.show(percent / 100, `of ${count(total)}${rowsPerSecond > 0 ? `, ${count(rowsPerSecond)}/s` : ''}`)
  try {
    return await imports.wait(jobId, { onProgress, signal: interrupted })
  } catch (error) {
    if (!interrupted.aborted) throw error
    log.write('\ncancelling; rows already imported are kept\n')
    await imports.cancel(jobId).catch(error => log.write(`${error.message}\n`))
    return await imports.wait(jobId, { onProgress })
  } finally {
    progress.end()
  }
}

function report({ out }: Run, status: ImportStatus, kind: 'import' | 'undo' | 'dry run', jobId: string): void {
  const { state, failedReason, result } = status
  const outcome = state === 'completed' ? `complete after ${(result.durationMs / 1000).toFixed(1)} s` : failedReason
  out.write(`${kind} ${jobId}: ${outcome}\n${reportOf(status, kind)}\n`)
}
