import { AppError } from '@rollcall/contract'
import type { LinkUserRequest } from '@rollcall/protos/gen/audience-v1.ts'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import { type Call, serviceCaller } from '@rollcall/rpc'
import { objectId, type PopulateMap, personReference } from '@rollcall/store'
import type { Context } from '../context.ts'
import type { ChangeContact } from './change-contact.ts'

/** Returns the handler that links a contact to an account, or unlinks it. */
export function userLinker(context: Context, change: ChangeContact) {
  return async ({ id, userId }: LinkUserRequest, call: Call): Promise<Updated> => {
    if (userId === '') return change(call, id, 'contact.user_unlinked', { user: null })
    // An unknown contact is reported before an unknown user.
    await context.collections.of(call.caller.organizationId).contacts.get(id, 'contact')
    await requireUser(context, call, userId)
    const updated = await change(call, id, 'contact.user_linked', { user: objectId(userId, 'userId') }).catch(error => {
      throw error instanceof AppError && error.path === 'user'
        ? new AppError('record.duplicate', { path: 'userId' })
        : error
    })
    // Checked again: the event of an account deleted meanwhile came before the link.
    await requireUser(context, call, userId).catch(async error => {
      if (error instanceof AppError && error.code === 'user.not_found')
        await change(call, id, 'contact.user_unlinked', { user: null })
      throw error
    })
    return updated
  }
}

/** Checks that the organization has the account. @throws {AppError} user.not_found */
async function requireUser(context: Context, call: Call, userId: string): Promise<void> {
  const users = await findUsers(context, call, [userId])
  if (users.length === 0) throw new AppError('user.not_found')
}

/** Returns what `populate` can expand of a contact: the linked account. */
export function contactReferences(context: Context, call: Call): PopulateMap {
  const load = async (ids: string[]) => {
    const users = await findUsers(context, call, ids)
    return new Map(users.map(({ id, ...fields }) => [id, { _id: id, id, ...fields }]))
  }
  return { user: personReference(call.caller, { load }) }
}

async function findUsers({ directory }: Context, { caller, requestId, deadline }: Call, ids: string[]) {
  const asking = { caller: serviceCaller('audience', caller.organizationId), requestId, deadline }
  return (await directory.findUsers({ ids }, asking)).users
}
