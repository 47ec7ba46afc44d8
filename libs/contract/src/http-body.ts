import type { HttpBody } from '@rollcall/protos/gen/api.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'

export type { HttpBody }

const JSON_TYPE = 'application/json; charset=utf-8'

/** Returns a value serialised as a JSON body. A Buffer is used as finished JSON. */
export function json(value: unknown): HttpBody {
  return { contentType: JSON_TYPE, data: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)) }
}

/** The answer of every rpc that updates a record. */
export function updated(): Updated {
  return { success: true, message: 'updated' }
}
