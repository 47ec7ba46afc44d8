import { defineService } from '@rollcall/service'
import { attributes } from './attributes/attributes.ts'
import { batches } from './batches/batches.ts'
import { expireFailuresJob } from './batches/expire-failures.job.ts'
import { bulk } from './bulk/bulk.ts'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { contacts } from './contacts/contacts.ts'
import { createContext } from './context.ts'
import { onEmailEvents } from './emails/on-email-events.ts'
import { onSuppressionLifted } from './emails/on-suppression-lifted.ts'
import { onUserEvents } from './history/on-user-events.ts'
import { lists } from './lists/lists.ts'
import { personalData } from './people/personal-data.ts'
import { recipients } from './recipients/recipients.ts'
import { segments } from './segments/segments.ts'
import { signUps } from './sign-ups/sign-ups.ts'

/** The audience service: contacts, their attributes, lists and history. */
export const service = defineService({
  name: 'audience',
  config: readConfig,
  collections,
  context: createContext,
  handlers: context => ({
    'rollcall.audience.v1.Contacts': contacts(context),
    'rollcall.audience.v1.Attributes': attributes(context),
    'rollcall.audience.v1.Batches': batches(context),
    'rollcall.audience.v1.Bulk': bulk(context),
    'rollcall.audience.v1.Lists': lists(context),
    'rollcall.audience.v1.Recipients': recipients(context),
    'rollcall.audience.v1.Segments': segments(context),
    'rollcall.audience.v1.SignUps': signUps(context),
  }),
  personalData,
  subscribers: context => [onUserEvents(context), onEmailEvents(context), onSuppressionLifted(context)],
  jobs: context => [
    context.bulkJob,
    context.columnsJob,
    context.dropValuesJob,
    context.dropMembersJob,
    expireFailuresJob(context),
  ],
})
