import type { BulkOperation } from '@rollcall/store'

/** The write that inserts a document as it is. */
export function insertOf(document: object): BulkOperation {
  return { insertOne: { document } }
}
