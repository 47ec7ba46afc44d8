import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { mailReachOf } from './mail-reach.ts'

/** The caller's organization, as services that act for it see it. */
export const organizations = (context: Context): Handlers<'rollcall.identity.v1.Organizations'> => ({
  findOrganization: (_request, { caller }) => mailReachOf(context, caller.organizationId),
})
