import { Busboy } from '@fastify/busboy'
import type { PageRequest } from '@rollcall/protos/gen/types.ts'

/** The encodings that browsers send forms in, and mailbox providers a one-click unsubscribe (RFC 8058). */
const FORM_TYPE = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i
const MAX_FIELDS = 1_000

/** Returns the fields of a submitted form; files are left out. Undefined if the body is no form. */
export async function formOf({ contentType, body }: PageRequest): Promise<URLSearchParams | undefined> {
  if (!FORM_TYPE.test(contentType)) return undefined
  const fields = new URLSearchParams()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  try {
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { fields: MAX_FIELDS, fieldSize: body.length, files: 0 },
    })
    parser.on('field', (name, value) => fields.append(name, value))
    parser.once('finish', resolve).once('error', reject)
    parser.end(body)
    await promise
    return fields
  } catch {
    return undefined
  }
}
