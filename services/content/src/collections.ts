import { defineCollections } from '@rollcall/store'
import { collectionSchema, deletionSchema } from './collections/collection.model.ts'
import { entrySchema, uniqueValueSchema } from './entries/entry.model.ts'
import { mailCountSchema, signUpSchema } from './forms/sign-up.model.ts'
import { clickDaySchema, saltSchema, visitorSchema } from './links/click.model.ts'
import { linkSchema } from './links/link.model.ts'

/** The collections of content. */
export const collections = defineCollections({
  links: linkSchema,
  clickDays: clickDaySchema,
  visitors: visitorSchema,
  salts: saltSchema,
  collections: collectionSchema,
  deletions: deletionSchema,
  entries: entrySchema,
  uniqueValues: uniqueValueSchema,
  signUps: signUpSchema,
  mailCounts: mailCountSchema,
})

/** The collections of a store. */
export type Collections = ReturnType<typeof collections>
/** The collections of one organization. */
export type Tenant = ReturnType<Collections['of']>
