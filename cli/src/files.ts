import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { UploadFile } from '@rollcall/sdk'
import { messageOf, Problem } from './problem.ts'

/** A file to upload, and a signal that fires with the Problem if it cannot be read to its end. */
export type OpenedFile = { file: UploadFile; broken: AbortSignal }

/** Opens a file for an upload. @throws {Problem} if it is not a file that can be read */
export async function openForUpload(path: string): Promise<OpenedFile> {
  const size = await sizeOf(path)
  const broken = new AbortController()
  const file = {
    name: basename(path),
    size,
    stream: () => Readable.toWeb(Readable.from(chunksOf(path, broken))) as ReturnType<UploadFile['stream']>,
  }
  return { file, broken: broken.signal }
}

async function sizeOf(path: string): Promise<number> {
  const opened = await open(path).catch(() => null)
  const found = await opened?.stat()
  await opened?.close()
  if (!found?.isFile()) throw new Problem(`${path} is not a file that can be read`)
  return found.size
}

async function* chunksOf(path: string, broken: AbortController): AsyncGenerator<Uint8Array> {
  try {
    yield* (await open(path)).createReadStream()
  } catch (error) {
    broken.abort(new Problem(`${path} cannot be read: ${messageOf(error)}`))
    throw error
  }
}

/** Writes a file when its content is complete; writes to a device or a pipe at once. */
export async function writeWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const isFile = (await stat(path).catch(() => null))?.isFile() ?? true
  const part = isFile ? `${path}.part` : path
  const opened: FileHandle = await open(part, 'w')
  try {
    await pipeline(content, opened.createWriteStream())
    if (isFile) await rename(part, path)
  } catch (error) {
    if (isFile) await rm(part, { force: true })
    throw error
  }
}
