import { defineService } from '@rollcall/service'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { deliveries } from './deliveries/deliveries.ts'
import { webhooks } from './endpoints/webhooks.ts'
import { events } from './events/events.ts'
import { onEvent } from './events/on-event.ts'
import { personalData } from './personal-data.ts'

/** The webhooks service: the event log, and its delivery to endpoints. */
export const service = defineService({
  name: 'webhooks',
  config: readConfig,
  collections,
  context: createContext,
  handlers: context => ({
    'rollcall.webhooks.v1.Deliveries': deliveries(context),
    'rollcall.webhooks.v1.Events': events(context),
    'rollcall.webhooks.v1.Webhooks': webhooks(context),
  }),
  personalData,
  subscribers: context => [onEvent(context)],
  jobs: context => [context.deliveryJob, context.retentionJob],
})
