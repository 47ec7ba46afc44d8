import { defineCollections } from '@rollcall/store'
import { failedRowSchema, importSchema } from './imports/import.model.ts'
import { pendingSchema } from './uploads/pending.model.ts'
import { chunkSchema, uploadSchema } from './uploads/upload.model.ts'

/** The collections of the import service. */
export const collections = defineCollections({
  uploads: uploadSchema,
  chunks: chunkSchema,
  pending: pendingSchema,
  imports: importSchema,
  failedRows: failedRowSchema,
})

/** The collections in a store. */
export type Collections = ReturnType<typeof collections>
/** The collections as one organization sees them. */
export type Tenant = ReturnType<Collections['of']>
