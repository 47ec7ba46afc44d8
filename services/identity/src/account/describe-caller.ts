import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { Context } from '../context.ts'
import { presentOrganization } from '../organizations/organization.model.ts'
import { secondFactorOf } from '../second-factor/second-factor.ts'
import { presentUser, type User } from '../users/user.model.ts'

/**
 * Returns the caller as shown to itself, and its account.
 * @throws {AppError} account.unknown if the account was deleted
 */
export async function describeCaller({ collections }: Context, caller: Caller): Promise<{ me: object; user: User }> {
  const { organizationId, userId, role, permissions, tokenId, tokenName, impersonatorId } = caller
  const [organization, user] = await Promise.all([
    collections.unscoped.organizations.findById(organizationId).lean(),
    collections.of(organizationId).users.findOne({ _id: userId }),
  ])
  if (!organization || !user) throw new AppError('account.unknown')
  const factor = secondFactorOf(user)
  const me = {
    kind: caller.kind,
    user: presentUser(user),
    organization: presentOrganization(organization),
    role,
    permissions: permissions === '*' ? ['*'] : permissions,
    ...(tokenId && { token: { _id: tokenId, id: tokenId, name: tokenName } }),
    ...(impersonatorId && { impersonatedBy: impersonatorId }),
    mfa: {
      totp: factor !== undefined,
      recoveryCodesLeft: factor?.recoveryCodes.length ?? 0,
      required: organization.settings?.requireMfa ?? false,
    },
  }
  return { me, user }
}
