import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ImportStatusJson, ImportUploadJson } from '@rollcall/protos/gen/import-v1.ts'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { type Api, bodyOf } from '../api.ts'

/** Uploads a file and starts its import, by default with the suggested mapping. */
export async function startImport(
  api: Api,
  file: string | Uint8Array<ArrayBuffer>,
  options: object = {},
): Promise<string> {
  const upload = await bodyOf(api.upload<ImportUploadJson>('/api/audience/import/upload', file))
  const start = { importId: upload.importId, mapping: upload.suggestedMapping, ...options }
  return (await bodyOf(api.post<{ jobId: string }>('/api/audience/import/start', start))).jobId
}

const TIMEOUT_MS = 120_000

/**
 * Polls until the job has ended or the condition holds. Requires that progress never falls, and does not stall for
 * long.
 */
export async function follow(
  api: Api,
  jobId: string,
  until = (_: ImportStatusJson) => false,
): Promise<ImportStatusJson> {
  let deadline = Date.now() + scaledTimeout(TIMEOUT_MS)
  let progress = 0
  for (;;) {
    const answer = await api.get<ImportStatusJson>(`/api/audience/import/status/${jobId}`)
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
export function accounting({ result }: ImportStatusJson): Record<string, number> {
  const { total, created, updated, unchanged, skipped, failed, removed } = result
  assert.equal(created + updated + unchanged + skipped + failed + removed, total)
  return { total, created, updated, unchanged, skipped, failed }
}

/** Imports a file and returns its final status. */
export async function importFile(
  api: Api,
  file: string | Uint8Array<ArrayBuffer>,
  options: object = {},
): Promise<ImportStatusJson> {
  return follow(api, await startImport(api, file, options))
}
