import type { Handlers } from '@rollcall/rpc'
import { releaseHold } from '@rollcall/store'
import type { Context } from '../context.ts'
import { preferenceChanger } from './change-preferences.ts'
import { checkRecipients } from './check-recipients.ts'
import { countRecipients } from './count-recipients.ts'
import { getPreferences } from './get-preferences.ts'
import { requireSelection } from './selection.ts'
import { takeRecipients } from './take-recipients.ts'

/** The handlers that answer other services who gets mail, and apply what recipients choose. */
export function recipients(context: Context): Handlers<'rollcall.audience.v1.Recipients'> {
  return {
    checkRecipients: (request, { caller }) => checkRecipients(context.collections.of(caller.organizationId), request),
    async releaseRecipients({ holdId }, { caller }) {
      await releaseHold(context.collections.of(caller.organizationId).holds, holdId)
      return {}
    },

    takeRecipients: (request, call) => takeRecipients(context, request, call),
    countRecipients: (selection, call) => countRecipients(context, selection, call),

    checkSelection: async (selection, { caller }) => {
      await requireSelection(context.collections.of(caller.organizationId), selection)
      return {}
    },

    getPreferences: ({ contactId }, { caller }) =>
      getPreferences(context.collections.of(caller.organizationId), contactId),
    changePreferences: preferenceChanger(context),
  }
}
