import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from './problem.ts'

/** What an upload answers, as far as it is read here. */
export type Upload = {
  importId: string
  headers: string[]
  rowCount: number
  delimiter: string
  encoding: string
  suggestedMapping: Record<string, string>
  duplicateEmails: number
}

/** Where a job stands, as far as it is read here. */
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

/** The part of the public API that imports take. */
export type Client = {
  /** Sends a file as it is read, until the signal fires; `onProgress` hears of the share that is on its way. */
  upload(file: string, onProgress: (share: number) => void, signal: AbortSignal): Promise<Upload>
  start(body: object): Promise<string>
  status(jobId: string): Promise<Status>
  /** The job that takes an import back: a new one, or the one that was started for it before. */
  undo(jobId: string): Promise<{ jobId: string; isNew: boolean }>
  cancel(jobId: string): Promise<void>
  /** Saves the rows that failed: all of them, or no file. */
  saveErrors(path: string, file: string): Promise<void>
}

const IMPORT_PATH = '/api/audience/import'
const jobPath = (jobId: string) => `${IMPORT_PATH}/${encodeURIComponent(jobId)}`

/** How long a gateway that is away is waited for: a job goes on meanwhile, and so does whoever follows it. */
type Patience = { patienceMs: number; retryMs: number }

/** Creates a client of a gateway. Whatever it refuses is a Problem with the reason it gives. */
export function createClient(
  url: string,
  token: string,
  { patienceMs, retryMs }: Patience = { patienceMs: 60_000, retryMs: 1_000 },
): Client {
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), authorization: token }
    const answer = await fetch(url + path, { ...init, headers }).catch(error => {
      if (init.signal?.aborted) throw new Problem('interrupted')
      if (error.cause instanceof Problem) throw error.cause
      throw new TryAgain(`${url} cannot be reached: ${causeOf(error)}`)
    })
    if (!answer.ok) throw await refusal(url, answer)
    return answer
  }
  const received = async function* (path: string, init?: RequestInit): AsyncGenerator<Uint8Array> {
    const { body } = await request(path, init)
    try {
      yield* body ?? []
    } catch (error) {
      throw new TryAgain(`the answer of ${url} broke off: ${causeOf(error)}`)
    }
  }
  const ask = async <T>(path: string, init?: RequestInit): Promise<T> => {
    const answer = parsed<T>(await text(received(path, init)))
    if (answer === undefined) throw new Problem(`${url} answers with what is no JSON`)
    return answer
  }
  const post = (path: string, body: object = {}) =>
    ask<{ jobId: string }>(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  const patiently = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const until = Date.now() + patienceMs
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof TryAgain) || Date.now() > until) throw error
        await sleep(retryMs)
      }
    }
  }
  const undoneBy = async (jobId: string): Promise<string | null | undefined> => {
    const filter = encodeURIComponent(JSON.stringify({ _id: jobId }))
    const { docs } = await ask<{ docs: { undoneBy: string | null }[] }>(`${IMPORT_PATH}/jobs?filter=${filter}`)
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
      return ask<Upload>(`${IMPORT_PATH}/upload`, init as RequestInit)
    },
    start: async body => (await patiently(() => post(`${IMPORT_PATH}/start`, body))).jobId,
    status: jobId => patiently(() => ask<Status>(`${IMPORT_PATH}/status/${encodeURIComponent(jobId)}`)),
    async undo(jobId) {
      try {
        return { ...(await patiently(() => post(`${jobPath(jobId)}/undo`))), isNew: true }
      } catch (error) {
        // The answer that named it may have been lost.
        const undo = error instanceof Conflict ? await patiently(() => undoneBy(jobId)) : null
        if (!undo) throw error
        return { jobId: undo, isNew: false }
      }
    },
    async cancel(jobId) {
      await patiently(() => post(`${jobPath(jobId)}/cancel`))
    },
    saveErrors: (path, file) =>
      patiently(() =>
        writeWhole(file, received(path)).catch(error => {
          if (error instanceof Problem) throw error
          throw new Problem(`${file} cannot be written: ${causeOf(error)}; the rows that failed are at ${url}${path}`)
        }),
      ),
  }
}

/** Refused for now rather than for good. */
class TryAgain extends Problem {
  override name = 'TryAgain'
}

/** Refused because of what has been done already. */
class Conflict extends Problem {
  override name = 'Conflict'
}

const CONFLICT = 409
/** Too much to do, or a gateway that is away: also what stands before it says so. */
const passing = [429, 502, 503, 504]

async function refusal(url: string, answer: Response): Promise<Problem> {
  const { status, statusText, headers } = answer
  const body = await answer.text().catch(() => '')
  const reason = headers.get('www-authenticate')?.match(/error_description="([^"]*)"/)?.[1]
  const message = reason ?? parsed<{ message?: string }>(body)?.message ?? `${url} answers ${status} ${statusText}`
  if (passing.includes(status)) return new TryAgain(message)
  return status === CONFLICT ? new Conflict(message) : new Problem(message)
}

function parsed<T>(body: string): T | undefined {
  try {
    return JSON.parse(body) as T
  } catch {
    return undefined // a text of something that stands before the gateway
  }
}

/** Writes a file once all of it is there; a device or a pipe takes it as it comes. */
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

/** A form of one file, read as it is sent. */
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
