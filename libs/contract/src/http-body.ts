/** A finished HTTP answer as it crosses between services (google.api.HttpBody): written to the client unparsed. */
export type HttpBody = { contentType: string; data: Buffer }

const jsonType = 'application/json; charset=utf-8'

/** Serialises a record once, in the service that owns it. A Buffer is taken as JSON that is finished already. */
export function json(value: unknown): HttpBody {
  return { contentType: jsonType, data: Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)) }
}
