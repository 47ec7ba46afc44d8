import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { AppError, type HttpBody } from '@rollcall/contract'
import { mayHaveTakenEffect } from '@rollcall/rpc'
import type { Exchange } from '../exchange.ts'
import type { Attempt } from '../idempotency.ts'

/** What an upload's rpc takes, message by message: the file's name in the first, its bytes in all of them. */
export type FileChunk = { fileName?: string; chunk: Buffer }

const field = 'file'
/** More cannot be right, and each takes time, empty or not. */
const maxParts = 20
type File = { name: string; content: Readable }

/**
 * Receives the one file of a multipart form, field `file`, at the pace of whoever reads it; nothing is kept. Resolves when
 * the file begins. Its chunks end, or fail, with the form: what comes after the file is looked at too.
 * @throws {AppError} missing_field, extra_field (a second file, another field), invalid_field (`file` is a text),
 * bad_request (no multipart form, or one that breaks off; a file over `maxBytes`; a client slower than 16 KiB/s)
 */
export async function receiveFile(exchange: Exchange, maxBytes: number): Promise<AsyncIterable<FileChunk>> {
  const { request, signal } = exchange
  const begun = Promise.withResolvers<File>()
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {}) // Where no file began, nobody waits for the end.
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
    content.on('error', () => {}) // Told to whoever reads it; a part that nobody reads must not end the process.
    if (name !== field || file) {
      extra ??= name
      content.resume()
      if (file) fail(new AppError('request.extra_field', { path: extra }))
    } else if (extra !== undefined) {
      fail(new AppError('request.extra_field', { path: extra }))
    } else if (fileName === undefined) {
      fail(new AppError('request.invalid_field', { path: field, reason: 'must be a file' }))
    } else {
      file = { name: fileName, content }
      content.once('limit', () => fail(new AppError('upload.too_large', { maxBytes })))
      begun.resolve(file)
    }
  })
  form.on('finish', () => (file ? ended.resolve() : fail(new AppError('request.missing_field', { path: field }))))
  form.on('error', cause => fail(new AppError('request.malformed_multipart', {}, { cause })))
  form.on('partsLimit', () => fail(new AppError('request.extra_field', { path: extra ?? field })))
  watchSender(exchange, () => fail(new AppError('upload.too_slow')))
  signal.addEventListener('abort', () => fail(new AppError('service.unavailable', {})), { once: true })
  request.pipe(form)

  return chunksOf(await begun.promise, ended.promise, discardRest)
}

/**
 * The attempt of an upload. The file's name and bytes tell it from others; they are hashed on their way to the service,
 * or, for a repetition, to nowhere. An upload that broke off has changed nothing.
 */
export function uploadAttempt(
  exchange: Exchange,
  maxBytes: number,
  send: (file: AsyncIterable<FileChunk>) => Promise<HttpBody>,
): Attempt {
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
    discardRest() // The service may have answered before the end; the client is still sending.
  }
}

/** Cuts off a client that is too slow, unless it is the service that takes the file slowly. */
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

/** Every part counts as a file: a text is held to the same rules, and not to be gathered in memory. */
function openForm(headers: Exchange['request']['headers'], maxBytes: number): BusboyInstance {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) {
    throw new AppError('request.wrong_content_type', { expected: 'multipart/form-data' })
  }
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      isPartAFile: () => true,
      limits: { fileSize: maxBytes, parts: maxParts, headerPairs: 20, headerSize: 8192 },
    })
  } catch (cause) {
    throw new AppError('request.malformed_multipart', {}, { cause })
  }
}
