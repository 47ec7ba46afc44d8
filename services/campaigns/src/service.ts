import { defineService } from '@rollcall/service'
import { campaigns } from './campaigns/campaigns.ts'
import { uses } from './campaigns/uses.ts'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { personalData } from './personal-data.ts'
import { templateContents } from './templates/template-contents.ts'
import { templates } from './templates/templates.ts'

/** The campaigns service: templates and campaigns. */
export const service = defineService({
  name: 'campaigns',
  config: readConfig,
  collections,
  context: createContext,
  handlers: context => ({
    'rollcall.campaigns.v1.Campaigns': campaigns(context),
    'rollcall.campaigns.v1.TemplateContents': templateContents(context),
    'rollcall.campaigns.v1.Templates': templates(context),
    'rollcall.campaigns.v1.Uses': uses(context),
  }),
  personalData,
  jobs: context => [context.job],
})
