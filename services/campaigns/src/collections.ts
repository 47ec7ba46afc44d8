import { defineCollections } from '@rollcall/store'
import { campaignSchema } from './campaigns/campaign.model.ts'
import { templateSchema } from './templates/template.model.ts'

/** The collections of campaigns. */
export const collections = defineCollections({
  campaigns: campaignSchema,
  templates: templateSchema,
})

/** The collections of a store. */
export type Collections = ReturnType<typeof collections>
/** The collections of one organization. */
export type Tenant = ReturnType<Collections['of']>
