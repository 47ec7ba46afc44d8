import type { UploadFile, UploadOptions } from './call.ts'
import { randomKey } from './random-key.ts'
import type { Request } from './send.ts'

type OnProgress = UploadOptions['onProgress']

/**
 * Returns what is sent of a file. Where progress is wanted a browser takes XMLHttpRequest, since its fetch reports none;
 * elsewhere the form is streamed.
 */
export function uploadOf(file: UploadFile, onProgress: OnProgress): Pick<Request, 'headers' | 'body' | 'transport'> {
  const Xhr = (globalThis as unknown as { XMLHttpRequest?: XhrClass }).XMLHttpRequest
  if (file instanceof Blob && (Xhr || !onProgress)) {
    const body = new FormData()
    body.set('file', file, nameOf(file))
    return { headers: {}, body: () => ({ body }), ...(Xhr && onProgress && { transport: xhrFetch(Xhr, onProgress) }) }
  }
  const boundary = randomKey()
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    // Node asks for `duplex` with a stream.
    body: () => ({ body: formOf(file, boundary, onProgress), duplex: 'half' }) as RequestInit,
  }
}

function nameOf({ name }: UploadFile): string {
  return name ?? 'file.csv'
}

/** Streams a form with one file. */
function formOf(file: UploadFile, boundary: string, onProgress: OnProgress): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const name = nameOf(file).replace(/["\r\n]/g, encodeURIComponent)
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/csv\r\n\r\n`
  const reader = file.stream().getReader()
  let sent = 0
  return new ReadableStream({
    start: controller => controller.enqueue(encoder.encode(head)),
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) {
        controller.enqueue(encoder.encode(`\r\n--${boundary}--\r\n`))
        controller.close()
        return
      }
      controller.enqueue(value)
      sent += value.length
      onProgress?.(sent / file.size)
    },
    cancel: reason => reader.cancel(reason),
  })
}

/** The part of XMLHttpRequest that uploads need. The types of browsers are not among those of Node. */
type Xhr = {
  upload: { onprogress: (event: { loaded: number; total: number }) => void }
  onload: () => void
  onerror: () => void
  readonly status: number
  readonly statusText: string
  readonly responseText: string
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}
type XhrClass = new () => Xhr

/** Returns a fetch over XMLHttpRequest, which reports what share of the body was sent. */
function xhrFetch(Xhr: XhrClass, onProgress: (share: number) => void): typeof fetch {
  return (url, { method = 'POST', headers, body, signal } = {}) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const xhr = new Xhr()
      xhr.open(method, String(url))
      for (const [name, value] of Object.entries(headers as Record<string, string>)) xhr.setRequestHeader(name, value)
      xhr.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
      xhr.onload = () => resolve(responseOf(xhr))
      xhr.onerror = () => reject(new TypeError('the upload was interrupted'))
      signal?.addEventListener('abort', () => {
        xhr.abort()
        reject(signal.reason)
      })
      xhr.send(body)
    })
}

function responseOf(xhr: Xhr): Response {
  const lines = xhr.getAllResponseHeaders().trim().split('\r\n')
  const headers = lines.map(line => line.split(/: ?(.*)/s, 2) as [string, string])
  return new Response(xhr.responseText, { status: xhr.status, statusText: xhr.statusText, headers })
}
