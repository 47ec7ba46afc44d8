// Generated from the protos by `npm run generate`. Do not edit.

/** A finished HTTP body: its bytes are written to the client as they are. */
export type HttpBody = {
  contentType: string
  data: Buffer
}
