import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
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
  undo(jobId: string): Promise<string>
  cancel(jobId: string): Promise<void>
  /** Saves the rows that failed. */
  saveErrors(path: string, file: string): Promise<void>
}

const importPath = '/api/audience/import'
/** How long a service that is away is waited for while a job is followed. */
const patienceMs = 60_000
const retryMs = 1_000

/** Creates a client of a gateway. Whatever it refuses is a Problem with the reason it gives. */
export function createClient(url: string, token: string): Client {
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), authorization: token }
    const answer = await fetch(url + path, { ...init, headers }).catch(error => {
      if (init.signal?.aborted) throw new Problem('interrupted')
      throw new TryAgain(`${url} cannot be reached: ${causeOf(error)}`)
    })
    if (!answer.ok) throw await refusal(answer)
    return answer
  }
  const post = (path: string, body: object = {}) =>
    request(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  const jobOf = async (answer: Promise<Response>) => ((await (await answer).json()) as { jobId: string }).jobId

  return {
    async upload(file, onProgress, signal) {
      const boundary = randomUUID()
      const init = {
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: Readable.toWeb(Readable.from(formOf(file, await sizeOf(file), boundary, onProgress))),
        duplex: 'half',
        signal,
      }
      return (await (await request(`${importPath}/upload`, init as RequestInit)).json()) as Upload
    },
    start: body => jobOf(post(`${importPath}/start`, body)),
    status: jobId =>
      patiently(
        async () => (await (await request(`${importPath}/status/${encodeURIComponent(jobId)}`)).json()) as Status,
      ),
    undo: jobId => jobOf(post(`${importPath}/${encodeURIComponent(jobId)}/undo`)),
    async cancel(jobId) {
      await post(`${importPath}/${encodeURIComponent(jobId)}/cancel`)
    },
    async saveErrors(path, file) {
      const { body } = await request(path)
      await pipeline(body ?? [], createWriteStream(file))
    },
  }
}

/** Refused for now rather than for good. */
class TryAgain extends Problem {
  override name = 'TryAgain'
}

async function refusal(answer: Response): Promise<Problem> {
  const text = await answer.text()
  const reason = answer.headers.get('www-authenticate')?.match(/error_description="([^"]*)"/)?.[1]
  const message = reason ?? messageIn(text) ?? text
  return answer.status === 429 || answer.status === 503 ? new TryAgain(message) : new Problem(message)
}

function messageIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { message?: string }).message
  } catch {
    return undefined // a plain text
  }
}

/** A job goes on while the gateway restarts; so does whoever follows it. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const until = Date.now() + patienceMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof TryAgain) || Date.now() > until) throw error
      await sleep(retryMs)
    }
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null)
  if (!found?.isFile()) throw new Problem(`${file} is not a file that can be read`)
  return found.size
}

/** A form of one file, read as it is sent. */
async function* formOf(file: string, size: number, boundary: string, onProgress: (share: number) => void) {
  const name = basename(file).replaceAll('"', '%22')
  yield Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n`,
  )
  let sent = 0
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    yield chunk
    sent += chunk.length
    onProgress(sent / size)
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}
