import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { receiveReport } from '../provider/receive-report.ts'
import { countOpen, followLink } from '../tracking/tracking.ts'
import { choosePreferences, showPreferences } from './preferences.ts'
import { showWebVersion } from './web-version.ts'

/** Handlers of the public pages. */
export const pages = (context: Context): Handlers<'rollcall.messaging.v1.Pages'> => ({
  showPreferences: request => showPreferences(context, request),
  choosePreferences: request => choosePreferences(context, request),
  countOpen: (request, call) => countOpen(context, request, call),
  followLink: (request, call) => followLink(context, request, call),
  receiveReport: request => receiveReport(context, request),
  showWebVersion: request => showWebVersion(context, request),
})
