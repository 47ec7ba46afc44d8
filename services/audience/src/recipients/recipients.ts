import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { checkRecipients } from './check-recipients.ts'
import { requireSelection } from './selection.ts'
import { takeRecipients } from './take-recipients.ts'

/** The handlers that tell other services who gets mail. */
export function recipients(context: Context): Handlers<'rollcall.audience.v1.Recipients'> {
  return {
    checkRecipients: (request, { caller }) =>
      checkRecipients(context.collections.of(caller.organizationId).contacts, request),

    takeRecipients: (request, call) => takeRecipients(context, request, call),

    checkSelection: async (selection, { caller }) => {
      await requireSelection(context.collections.of(caller.organizationId), selection)
      return {}
    },
  }
}
