import { defineService } from '@rollcall/service'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { templates } from './templates/templates.ts'

/** The campaigns service: templates of mails. */
export const service = defineService({
  name: 'campaigns',
  config: readConfig,
  collections,
  context: createContext,
  handlers: context => ({
    'rollcall.campaigns.v1.Templates': templates(context),
  }),
})
