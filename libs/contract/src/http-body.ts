import type { HttpBody } from '@rollcall/protos/gen/api.ts'

export type { HttpBody }

const jsonType = 'application/json; charset=utf-8'

/** Serialises a record once, in the service that owns it. A Buffer is taken as JSON that is finished already. */
export function json(value: unknown): HttpBody {
  return { contentType: jsonType, data: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)) }
}
