import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { choosePreferences, showPreferences } from './preferences.ts'

/** Handlers of the public pages. */
export const pages = (context: Context): Handlers<'rollcall.messaging.v1.Pages'> => ({
  showPreferences: request => showPreferences(context, request),
  choosePreferences: request => choosePreferences(context, request),
})
