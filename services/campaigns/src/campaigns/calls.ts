import { type Call, type CallContext, serviceCaller } from '@rollcall/rpc'
import { objectId } from '@rollcall/store'
import type { Types } from 'mongoose'
import type { Campaign } from './campaign.model.ts'

/** A call for a user, or for this service. It may use any sender, or with `userId` only those of this user. */
export type As = CallContext & { userId?: string }

/** Calls for a campaign: as the user, who decides which senders may be used, and as this service. */
export type Calls = { asUser: As; asService: CallContext }

/** Returns the calls that belong to a request. */
export function callsOf({ caller, deadline, signal }: Call): Calls {
  const context = { deadline, signal }
  return {
    asUser: { ...context, caller },
    asService: { ...context, caller: serviceCaller('campaigns', caller.organizationId) },
  }
}

/** Returns the id of the user who calls; for a token, of its creator. */
export function userOf({ caller: { userId } }: Call): Types.ObjectId | null {
  return userId === null ? null : objectId(userId)
}

/** Returns the call of a job. */
export function callOf({ organization }: Pick<Campaign, 'organization'>): CallContext {
  return { caller: serviceCaller('campaigns', String(organization)) }
}

/** Returns the calls of the job that starts a scheduled campaign, for the user who scheduled it or changed it since. */
export function callsAtTimeOf(campaign: Campaign): Calls {
  const asService = callOf(campaign)
  const userId = scheduledUserOf(campaign)
  return { asUser: { ...asService, ...(userId !== undefined && { userId }) }, asService }
}

/** A former release stored the actor alone: for a token, the user is unknown, and any sender may be used. */
function scheduledUserOf({ scheduledFor, scheduledBy }: Campaign): string | undefined {
  if (scheduledFor) return String(scheduledFor)
  return scheduledBy?.kind === 'user' && scheduledBy.id !== null ? scheduledBy.id : undefined
}
