import { defineService } from '@rollcall/service'
import { collectionHandlers } from './collections/collections.ts'
import { collections } from './collections.ts'
import { readConfig } from './config.ts'
import { createContext } from './context.ts'
import { entryHandlers } from './entries/entries.ts'
import { forms } from './forms/forms.ts'
import { links } from './links/links.ts'
import { personalData } from './personal-data.ts'

/** The content service: short links, collections, their entries and forms. */
export const service = defineService({
  name: 'content',
  config: readConfig,
  collections,
  context: createContext,
  handlers: context => ({
    'rollcall.content.v1.Collections': collectionHandlers(context),
    'rollcall.content.v1.Entries': entryHandlers(context),
    'rollcall.content.v1.Forms': forms(context),
    'rollcall.content.v1.Links': links(context),
  }),
  personalData,
  jobs: context => [context.deletionJob, context.signUpJob],
})
