import { AppError, emailKeyOf } from '@rollcall/contract'
import type { FindOrganizationResponse } from '@rollcall/protos/gen/identity-v1.ts'
import type { Context } from '../context.ts'
import { NO_TRACKING } from './organization.model.ts'

/**
 * Returns an organization and its owners' addresses; until it is verified, the only addresses it may mail. Then they
 * exclude owners it made itself: their addresses may be anyone's.
 */
export async function mailReachOf({ collections }: Context, organizationId: string): Promise<FindOrganizationResponse> {
  const organization = await collections.unscoped.organizations.findById(organizationId).lean()
  if (!organization) throw new AppError('organization.not_found')
  const { name, verified = true, settings } = organization
  const { users } = collections.of(organizationId)
  const owners = await users.find({ role: 'owner', ...(!verified && { selfRegistered: true }) })
  const { defaultTracking = NO_TRACKING } = settings ?? {}
  return { id: organizationId, name, verified, ownerEmails: owners.map(({ email }) => email), defaultTracking }
}

/**
 * Requires that an organization may mail an address. Until verified, it may mail only the owner who registered it.
 * @throws {AppError} organization.unverified
 */
export async function requireMailReach(context: Context, organizationId: string, email: string): Promise<void> {
  const { verified, ownerEmails } = await mailReachOf(context, organizationId)
  if (verified || ownerEmails.some(owner => emailKeyOf(owner) === emailKeyOf(email))) return
  throw new AppError('organization.unverified')
}
