import type { Client } from '@rollcall/sdk'
import { writeWhole } from './files.ts'
import { messageOf, Problem } from './problem.ts'

const ATTEMPTS = 3

/** Saves the failed rows of a job. Leaves no partial file. @throws {Problem} that says where they are instead */
export async function saveErrors({ imports }: Client, jobId: string, path: string, url: string): Promise<void> {
  const elsewhere = `the rows that failed are at ${url}`
  for (let attempt = 1; ; attempt++) {
    const { body } = await imports.downloadErrors(jobId)
    try {
      await writeWhole(path, received(body))
      return
    } catch (error) {
      if (!(error instanceof InterruptedDownload))
        throw new Problem(`${path} cannot be written: ${messageOf(error)}; ${elsewhere}`)
      if (attempt === ATTEMPTS) throw new Problem(`the download was interrupted: ${messageOf(error)}; ${elsewhere}`)
    }
  }
}

class InterruptedDownload extends Error {}

async function* received(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? []
  } catch (cause) {
    throw new InterruptedDownload('', { cause })
  }
}
