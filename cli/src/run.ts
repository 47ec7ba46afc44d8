import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, Status } from './client.ts'
import type { ImportTask, UndoTask } from './options.ts'
import { Problem } from './problem.ts'
import { createProgress, type Output } from './progress.ts'
import { count, reportOf } from './report.ts'

/** The dependencies of a run. */
export type Run = {
  client: Client
  /** For results. */
  out: Output
  /** For progress. */
  log: Output
  /** Asks the user; true without a terminal. */
  confirm(question: string): Promise<boolean>
  /** Fires when the job is to be cancelled. */
  interrupted: AbortSignal
}

const POLL_MS = 300

/** Uploads a file, starts its import, follows it and saves the failed rows. @returns whether it was completed */
export async function runImport(run: Run, task: ImportTask): Promise<boolean> {
  const { client, out, log } = run
  const { file, mapping: given, settings, errorsFile, confirmed } = task
  const progress = createProgress(log, 'uploading')
  const upload = await client.upload(file, share => progress.show(share, ''), run.interrupted)
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
  const jobId = await client.start({ importId, mapping, ...settings })
  out.write(`${kind} ${jobId}: started\n`)
  const status = await follow(run, jobId, settings.dryRun ? 'dry run' : 'importing')
  report(run, status, kind, jobId)
  if (status.result.failed > 0) {
    await client.saveErrors(status.result.errorsUrl, errorsFile)
    out.write(`failed rows, with the reasons: ${errorsFile}\n`)
  }
  return status.state === 'completed'
}

/** Undoes an import. @returns whether the undo was completed */
export async function runUndo(run: Run, { jobId }: UndoTask): Promise<boolean> {
  const { jobId: undoId, isNew } = await run.client.undo(jobId)
  run.out.write(isNew ? `undo ${undoId}: started\n` : `the import was already undone, by ${undoId}\n`)
  const status = await follow(run, undoId, 'undoing')
  report(run, status, 'undo', undoId)
  return status.state === 'completed'
}

function mappingLines(headers: readonly string[], mapping: Record<string, string>): string {
  const width = Math.max(...headers.map(header => header.length))
  return headers.map(header => `  ${header.padEnd(width)}  ${mapping[header] ?? '-'}`).join('\n')
}

async function follow({ client, log, interrupted }: Run, jobId: string, name: string): Promise<Status> {
  const progress = createProgress(log, name)
  let cancelling = false
  for (;;) {
    if (interrupted.aborted && !cancelling) {
      cancelling = true
      log.write('\ncancelling; rows already imported are kept\n')
      await client.cancel(jobId).catch(error => log.write(`${messageOf(error)}\n`))
    }
    const status = await client.status(jobId)
    const { rowsPerSecond, total } = status.result
    progress.show(status.progress / 100, `of ${count(total)}${rowsPerSecond > 0 ? `, ${count(rowsPerSecond)}/s` : ''}`)
    if (status.state === 'completed' || status.state === 'failed') {
      progress.end()
      return status
    }
    await sleep(POLL_MS, undefined, { signal: cancelling ? undefined : interrupted }).catch(() => undefined)
  }
}

function report({ out }: Run, status: Status, kind: 'import' | 'undo' | 'dry run', jobId: string): void {
  const { state, failedReason, result } = status
  const outcome = state === 'completed' ? `complete after ${(result.durationMs / 1000).toFixed(1)} s` : failedReason
  out.write(`${kind} ${jobId}: ${outcome}\n${reportOf(status, kind)}\n`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
