import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { mailReachOf } from './mail-reach.ts'

/** Handlers for other services that read the caller's organization. */
export const organizations = (context: Context): Handlers<'rollcall.identity.v1.Organizations'> => ({
  findOrganization: (_request, { caller }) => mailReachOf(context, caller.organizationId),
})
