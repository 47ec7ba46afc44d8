import type { HttpBody } from '@rollcall/protos/gen/api.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'

export type { HttpBody }

const jsonType = 'application/json; charset=utf-8'

/** Serialises a record once, in the service that owns it. A Buffer is taken as JSON that is finished already. */
export function json(value: unknown): HttpBody {
  return { contentType: jsonType, data: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)) }
}

/** The answer of every rpc that updates a record. */
export function updated(): Updated {
  return { success: true, message: 'updated' }
}
