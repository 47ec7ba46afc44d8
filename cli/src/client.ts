import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from './problem.ts'

/** The fields of an upload's answer that are used here. */
export type Upload = {
  importId: string
  headers: string[]
  rowCount: number
  delimiter: string
  encoding: string
  suggestedMapping: Record<string, string>
  duplicateEmails: number
}

/** The fields of a job's status that are used here. */
export type Status = {
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
    durationMs: number
    rowsPerSecond: number
    errors: { line: number; message: string; value: string }[]
    errorsUrl: string
    preview: { row: number; email: string; outcome: string; changes: { field: string; from: unknown; to: unknown }[] }[]
  }
}

/** The part of the public API that imports use. */
export type Client = {
  /** Streams a file, until the signal fires. Calls `onProgress` with the share sent, from 0 to 1. */
  upload(file: string, onProgress: (share: number) => void, signal: AbortSignal): Promise<Upload>
  start(body: object): Promise<string>
  status(jobId: string): Promise<Status>
  /** Undoes an import. Returns the new job, or the one that was started before. */
  undo(jobId: string): Promise<{ jobId: string; isNew: boolean }>
  cancel(jobId: string): Promise<void>
  /** Saves the failed rows. Leaves no partial file. */
  saveErrors(path: string, file: string): Promise<void>
}

const IMPORT_PATH = '/api/audience/import'
const jobPath = (jobId: string) => `${IMPORT_PATH}/${encodeURIComponent(jobId)}`

/** How long, and how often, requests are retried while the gateway is down. Jobs continue meanwhile. */
type RetryOptions = { timeoutMs: number; retryMs: number }

/** Creates a client of a gateway. Methods reject with a Problem that has the gateway's reason. */
export function createClient(
  url: string,
  token: string,
  { timeoutMs, retryMs }: RetryOptions = { timeoutMs: 60_000, retryMs: 1_000 },
): Client {
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), authorization: token }
    const answer = await fetch(url + path, { ...init, headers }).catch(error => {
      if (init.signal?.aborted) throw new Problem('interrupted')
      if (error.cause instanceof Problem) throw error.cause
      throw new RetryableProblem(`${url} cannot be reached: ${causeOf(error)}`)
    })
    if (!answer.ok) throw await refusal(url, answer)
    return answer
  }
  const received = async function* (path: string, init?: RequestInit): AsyncGenerator<Uint8Array> {
    const { body } = await request(path, init)
    try {
      yield* body ?? []
    } catch (error) {
      throw new RetryableProblem(`the response of ${url} was interrupted: ${causeOf(error)}`)
    }
  }
  const requestJson = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const answer = parsed<T>(await text(received(path, init)))
    if (answer === undefined) throw new Problem(`the response of ${url} is not JSON`)
    return answer
  }
  const post = (path: string, body: object = {}) =>
    requestJson<{ jobId: string }>(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  const withRetries = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const until = Date.now() + timeoutMs
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof RetryableProblem) || Date.now() > until) throw error
        await sleep(retryMs)
      }
    }
  }
  const undoneBy = async (jobId: string): Promise<string | null | undefined> => {
    const filter = encodeURIComponent(JSON.stringify({ _id: jobId }))
    const { docs } = await requestJson<{ docs: { undoneBy: string | null }[] }>(`${IMPORT_PATH}/jobs?filter=${filter}`)
    return docs[0]?.undoneBy
  }

  return {
    async upload(file, onProgress, signal) {
      const boundary = randomUUID()
      const init = {
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: Readable.toWeb(Readable.from(formOf(file, await openFile(file), boundary, onProgress))),
        duplex: 'half',
        signal,
      }
      return requestJson<Upload>(`${IMPORT_PATH}/upload`, init as RequestInit)
    },
    start: async body => (await withRetries(() => post(`${IMPORT_PATH}/start`, body))).jobId,
    status: jobId => withRetries(() => requestJson<Status>(`${IMPORT_PATH}/status/${encodeURIComponent(jobId)}`)),
    async undo(jobId) {
      try {
        return { ...(await withRetries(() => post(`${jobPath(jobId)}/undo`))), isNew: true }
      } catch (error) {
        // The answer with its id may have been lost.
        const undo = error instanceof Conflict ? await withRetries(() => undoneBy(jobId)) : null
        if (!undo) throw error
        return { jobId: undo, isNew: false }
      }
    },
    async cancel(jobId) {
      await withRetries(() => post(`${jobPath(jobId)}/cancel`))
    },
    saveErrors: (path, file) =>
      withRetries(() =>
        writeWhole(file, received(path)).catch(error => {
          if (error instanceof Problem) throw error
          throw new Problem(`${file} cannot be written: ${causeOf(error)}; the rows that failed are at ${url}${path}`)
        }),
      ),
  }
}

/** A problem that a retry may solve. */
class RetryableProblem extends Problem {
  override name = 'RetryableProblem'
}

/** Refused because of an earlier request. */
class Conflict extends Problem {
  override name = 'Conflict'
}

const CONFLICT = 409
/** Rate limits, and a gateway that is down; also the answers of a proxy in front of it. */
const retryableStatuses = [429, 502, 503, 504]

async function refusal(url: string, answer: Response): Promise<Problem> {
  const { status, statusText, headers } = answer
  const body = await answer.text().catch(() => '')
  const reason = headers.get('www-authenticate')?.match(/error_description="([^"]*)"/)?.[1]
  const message = reason ?? parsed<{ message?: string }>(body)?.message ?? `${url} answers ${status} ${statusText}`
  if (retryableStatuses.includes(status)) return new RetryableProblem(message)
  return status === CONFLICT ? new Conflict(message) : new Problem(message)
}

function parsed<T>(body: string): T | undefined {
  try {
    return JSON.parse(body) as T
  } catch {
    return undefined // from a proxy in front of the gateway
  }
}

/** Writes a file when its content is complete; writes to a device or a pipe at once. */
async function writeWhole(file: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const isFile = (await stat(file).catch(() => null))?.isFile() ?? true
  const part = isFile ? `${file}.part` : file
  const opened = await open(part, 'w')
  try {
    await pipeline(content, opened.createWriteStream())
    if (isFile) await rename(part, file)
  } catch (error) {
    if (isFile) await rm(part, { force: true })
    throw error
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

async function openFile(file: string): Promise<FileHandle> {
  const opened = await open(file).catch(() => null)
  if ((await opened?.stat())?.isFile()) return opened!
  await opened?.close()
  throw new Problem(`${file} is not a file that can be read`)
}

/** Streams a form with one file. */
async function* formOf(file: string, opened: FileHandle, boundary: string, onProgress: (share: number) => void) {
  const name = basename(file).replaceAll('"', '%22')
  yield Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n`,
  )
  const { size } = await opened.stat()
  let sent = 0
  for await (const chunk of bytesOf(file, opened)) {
    yield chunk
    sent += chunk.length
    onProgress(sent / size)
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

async function* bytesOf(file: string, opened: FileHandle): AsyncGenerator<Buffer> {
  try {
    yield* opened.createReadStream()
  } catch (error) {
    throw new Problem(`${file} cannot be read: ${causeOf(error)}`)
  }
}
