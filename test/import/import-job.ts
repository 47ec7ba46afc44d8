import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { type Api, bodyOf } from '../api.ts'

/** The status of an import. */
export type ImportStatus = {
  state: 'waiting' | 'active' | 'completed' | 'failed' | 'delayed'
  progress: number
  failedReason: string | null
  result: {
    total: number
    created: number
    updated: number
    unchanged: number
    skipped: number
    failed: number
    removed: number
    duplicatesInFile: number
    optOutsKept: number
    addedToLists: number
    preview: { row: number; email: string; outcome: string; changes: { field: string; from: unknown; to: unknown }[] }[]
    errors: {
      row: number
      line: number
      column: string | null
      field: string | null
      value: string
      code: string
      message: string
    }[]
    errorsUrl: string
  }
}

/** The answer to an upload. */
export type ImportUpload = {
  importId: string
  headers: string[]
  rowCount: number
  previewRows: Record<string, string>[]
  suggestedMapping: Record<string, string>
  duplicateEmails: number
  delimiter: string
  encoding: string
}

/** Uploads a file and starts its import, by default with the suggested mapping. */
export async function startImport(
  api: Api,
  file: string | Uint8Array<ArrayBuffer>,
  options: object = {},
): Promise<string> {
  const upload = await bodyOf(api.upload<ImportUpload>('/api/audience/import/upload', file))
  const start = { importId: upload.importId, mapping: upload.suggestedMapping, ...options }
  return (await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', start))).jobId
}

const TIMEOUT_MS = 120_000

/**
 * Polls until the job has ended or the condition holds. Requires that progress never falls, and does not stall for
 * long.
 */
export async function follow(api: Api, jobId: string, until = (_: ImportStatus) => false): Promise<ImportStatus> {
  let deadline = Date.now() + scaledTimeout(TIMEOUT_MS)
  let progress = 0
  for (;;) {
    const answer = await api.get<ImportStatus>(`/api/audience/import/status/${jobId}`)
    assert.ok(Date.now() < deadline, `the import is not over: ${answer.text.slice(0, 300)}`)
    if (answer.status === 200) {
      const status = answer.body
      assert.ok(status.progress >= progress, `progress fell from ${progress} to ${status.progress}`)
      if (status.progress > progress) deadline = Date.now() + scaledTimeout(TIMEOUT_MS)
      progress = status.progress
      assert.equal(status.progress === 100, status.state === 'completed')
      if (status.state === 'completed' || status.state === 'failed' || until(status)) return status
    }
    await sleep(50)
  }
}

/** Returns the number of rows by outcome, and requires that their sum is the number of all rows. */
export function accounting({ result }: ImportStatus): Record<string, number> {
  const { total, created, updated, unchanged, skipped, failed, removed } = result
  assert.equal(created + updated + unchanged + skipped + failed + removed, total)
  return { total, created, updated, unchanged, skipped, failed }
}

/** Imports a file and returns its final status. */
export async function importFile(
  api: Api,
  file: string | Uint8Array<ArrayBuffer>,
  options: object = {},
): Promise<ImportStatus> {
  return follow(api, await startImport(api, file, options))
}
