import type { BulkOperation } from '@rollcall/store'

/** Returns the bulk operation that inserts a document. */
export function insertOf(document: object): BulkOperation {
  return { insertOne: { document } }
}
