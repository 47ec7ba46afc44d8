import { columnChunkSchema, defineCollections, holdSchema, rowGroupSchema, staleRowsSchema } from '@rollcall/store'
import { attributeSchema } from './attributes/attribute.model.ts'
import { batchSchema } from './batches/batch.model.ts'
import { bulkJobSchema } from './bulk/bulk-job.model.ts'
import { bulkTraceSchema } from './bulk/bulk-trace.model.ts'
import { contactSchema } from './contacts/contact.model.ts'
import { contactEmailSchema } from './emails/contact-email.model.ts'
import { growthSchema } from './growth/growth.model.ts'
import { historySchema } from './history/history.model.ts'
import { listSchema } from './lists/list.model.ts'
import { listJobSchema } from './lists/list-job.model.ts'
import { membershipSchema } from './lists/membership.model.ts'
import { erasedAddressSchema } from './people/erased-address.model.ts'
import { segmentSchema } from './segments/segment.model.ts'

/** The collections of the audience. */
export const collections = defineCollections({
  contacts: contactSchema,
  attributes: attributeSchema,
  history: historySchema,
  emails: contactEmailSchema,
  batches: batchSchema,
  bulkJobs: bulkJobSchema,
  bulkTraces: bulkTraceSchema,
  lists: listSchema,
  memberships: membershipSchema,
  listJobs: listJobSchema,
  segments: segmentSchema,
  growth: growthSchema,
  rowGroups: rowGroupSchema,
  columnChunks: columnChunkSchema,
  staleRows: staleRowsSchema,
  holds: holdSchema,
  erasedAddresses: erasedAddressSchema,
})

/** The collections in a store. */
export type Collections = ReturnType<typeof collections>
/** The collections as one organization sees them. */
export type Tenant = ReturnType<Collections['of']>
