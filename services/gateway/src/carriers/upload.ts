import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { AppError, type HttpBody } from '@rollcall/contract'
import { mayHaveTakenEffect } from '@rollcall/rpc'
import type { Exchange } from '../exchange.ts'
import type { Attempt } from '../idempotency.ts'

/** A message of an upload's rpc. The first has the file's name, all have bytes. */
export type FileChunk = { fileName?: string; chunk: Buffer }

const FIELD = 'file'
/** Maximum parts of a form. Each costs time, even an empty one. */
const MAX_PARTS = 20
type File = { name: string; content: Readable }

/**
 * Receives the file of a multipart form, field `file`, at the pace of its reader, and buffers nothing. Resolves when
 * the file begins. The chunks end or fail with the form, so that errors after the file count too.
 * @throws {AppError} request.missing_field, extra_field (a second file or another field), invalid_field (`file` is
 * text), wrong_content_type or malformed_multipart; upload.too_large (over `maxBytes`) or too_slow (below 16 KiB/s);
 * service.unavailable if the client leaves
 */
export async function receiveFile(exchange: Exchange, maxBytes: number): Promise<AsyncIterable<FileChunk>> {
  const { request, signal } = exchange
  if (signal.aborted) throw new AppError('service.unavailable')
  const begun = Promise.withResolvers<File>()
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {}) // If no file begins, nothing awaits the end.
  let file: File | undefined
  let extra: string | undefined

  const form = openForm(request.headers, maxBytes)
  const discardRest = () => {
    request.unpipe(form)
    request.resume()
  }
  const fail = (error: AppError) => {
    discardRest()
    begun.reject(error)
    ended.reject(error)
    file?.content.destroy(error)
  }

  form.on('file', (name, content, fileName: string | undefined) => {
    content.on('error', () => {}) // Readers get the error; an unread part must not crash the process.
    if (name !== FIELD || file) {
      extra ??= name
      content.resume()
      if (file) fail(new AppError('request.extra_field', { path: extra }))
    } else if (extra !== undefined) {
      fail(new AppError('request.extra_field', { path: extra }))
    } else if (fileName === undefined) {
      fail(new AppError('request.invalid_field', { path: FIELD, reason: 'must be a file' }))
    } else {
      file = { name: fileName, content }
      content.once('limit', () => fail(new AppError('upload.too_large', { maxBytes })))
      begun.resolve(file)
    }
  })
  form.on('finish', () => (file ? ended.resolve() : fail(new AppError('request.missing_field', { path: FIELD }))))
  form.on('error', cause => fail(new AppError('request.malformed_multipart', {}, { cause })))
  form.on('partsLimit', () => fail(new AppError('request.extra_field', { path: extra ?? FIELD })))
  watchSender(exchange, () => fail(new AppError('upload.too_slow')))
  signal.addEventListener('abort', () => fail(new AppError('service.unavailable', {})), { once: true })
  request.pipe(form)

  return chunksOf(await begun.promise, ended.promise, discardRest)
}

/** How `uploadAttempt` handles the file. */
type UploadOptions = {
  maxBytes: number
  send: (file: AsyncIterable<FileChunk>) => Promise<HttpBody>
  /** Runs when the whole file has arrived. If it fails, the service gets no end and stores nothing. */
  atEnd: () => Promise<void>
}

/**
 * Returns an upload as an attempt. Its fingerprint is a hash of the file's name and bytes, computed while they stream
 * to the service, or while they are discarded for a repetition. An incomplete upload has changed nothing.
 */
export function uploadAttempt(exchange: Exchange, { maxBytes, send, atEnd }: UploadOptions): Attempt {
  const hash = createHash('sha256')
  let isReading = false
  let fingerprint: string | undefined

  const receive = async () => {
    isReading = true
    return hashed(await receiveFile(exchange, maxBytes))
  }
  async function* hashed(file: AsyncIterable<FileChunk>): AsyncGenerator<FileChunk> {
    for await (const message of file) {
      if (message.fileName !== undefined) hash.update(JSON.stringify([exchange.path, message.fileName]))
      hash.update(message.chunk)
      yield message
    }
    await atEnd()
    fingerprint = hash.digest('base64url')
  }

  return {
    perform: async () => send(await receive()),
    async fingerprint() {
      if (!isReading) for await (const _ of await receive());
      return fingerprint
    },
    mayHaveTakenEffect: failure => fingerprint !== undefined && mayHaveTakenEffect(failure),
  }
}

async function* chunksOf(file: File, formEnded: Promise<void>, discardRest: () => void): AsyncGenerator<FileChunk> {
  let message: FileChunk = { fileName: file.name, chunk: Buffer.alloc(0) }
  try {
    for await (const chunk of file.content as AsyncIterable<Buffer>) {
      yield { ...message, chunk }
      message = { chunk }
    }
    await formEnded
    if (message.fileName !== undefined) yield message
  } finally {
    discardRest() // The service may answer early while the client is still sending.
  }
}

/** Cuts off a slow client, but not one that waits for the service. */
function watchSender(exchange: Exchange, fail: () => void): void {
  const { request, bounds } = exchange
  const isWaitedFor = () => !request.complete && !request.isPaused() && request.readableLength === 0
  const unwatch = bounds.watch.add({
    progress: () => (isWaitedFor() ? request.socket.bytesRead : undefined),
    atLeast: bounds.uploadAtLeast,
    cut: () => {
      exchange.refuseConnection()
      fail()
    },
  })
  exchange.atEnd(unwatch)
}

/** Opens a form. Treats each part as a file, so that text has the same limits and is not buffered. */
function openForm(headers: Exchange['request']['headers'], maxBytes: number): BusboyInstance {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) {
    throw new AppError('request.wrong_content_type', { expected: 'multipart/form-data' })
  }
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile: () => true,
      limits: { fileSize: maxBytes, parts: MAX_PARTS, headerPairs: 20, headerSize: 8192 },
    })
  } catch (cause) {
    throw new AppError('request.malformed_multipart', {}, { cause })
  }
}
