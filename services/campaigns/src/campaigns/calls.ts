import { type Call, type CallContext, serviceCaller } from '@rollcall/rpc'
import type { Campaign } from './campaign.model.ts'

/** Calls for a campaign: as the user, who decides which senders may be used, and as this service. */
export type Calls = { asUser: CallContext; asService: CallContext }

/** Returns the calls that belong to a request. */
export function callsOf({ caller, deadline, signal }: Call): Calls {
  const context = { deadline, signal }
  return {
    asUser: { ...context, caller },
    asService: { ...context, caller: serviceCaller('campaigns', caller.organizationId) },
  }
}

/** Returns the call of a job. */
export function callOf({ organization }: Pick<Campaign, 'organization'>): CallContext {
  return { caller: serviceCaller('campaigns', String(organization)) }
}
