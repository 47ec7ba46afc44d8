import type { PersonalDataOf } from '@rollcall/service'
import type { Collections } from './collections.ts'
import type { Context } from './context.ts'

/** What the collections hold of contacts: nothing. The recipients of campaigns are messages of messaging. */
export const personalData: PersonalDataOf<Collections, Context> = {
  campaigns: 'none',
  templates: 'none',
}
