import { defineCollections } from '@rollcall/store'
import { attemptSchema, deliverySchema } from './deliveries/delivery.model.ts'
import { webhookSchema } from './endpoints/webhook.model.ts'
import { loggedEventSchema } from './events/logged-event.model.ts'
import { retentionSchema } from './events/retention.model.ts'

/** The collections of webhooks. */
export const collections = defineCollections({
  webhooks: webhookSchema,
  deliveries: deliverySchema,
  attempts: attemptSchema,
  events: loggedEventSchema,
  retentions: retentionSchema,
})

/** The collections of a store. */
export type Collections = ReturnType<typeof collections>
/** The collections of one organization. */
export type Tenant = ReturnType<Collections['of']>
