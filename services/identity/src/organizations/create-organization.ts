import { emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { builtInRoles } from '../roles/built-in.ts'
import type { User } from '../users/user.model.ts'
import type { Organization } from './organization.model.ts'

/** A new organization and the person it begins with. */
export type Founding = {
  organization: string
  name: string
  email: string
  passwordHash: string
  /** Where the owner signs in at once. */
  lastLoginAt?: Date
  /** The one that the first start makes, with an address that the operator vouches for: a second one is refused as a duplicate. */
  bootstrap?: true
}

/** Makes an organization with its built-in roles and its owner, within a transaction. */
export async function createOrganization(
  { collections }: Context,
  { organization: name, bootstrap, ...person }: Founding,
  tx: ClientSession,
): Promise<{ organization: Organization; owner: User }> {
  const isVerified = bootstrap === true
  const fields = { name, verified: isVerified, ...(bootstrap && { bootstrap }) }
  const [organization] = await collections.unscoped.organizations.create([fields], { session: tx })
  const { roles, users } = collections.of(organization!._id)
  const roleIds = builtInRoles.map(() => new Types.ObjectId())
  await roles.insertMany(
    builtInRoles.map(({ name, description, grants }, rank) => ({
      _id: roleIds[rank],
      name,
      kind: 'both' as const,
      builtIn: true,
      rank,
      permissions: grants,
      description,
      memberCount: name === 'owner' ? 1 : 0,
    })),
    { tx },
  )
  const owner = await users.insertOne(
    {
      ...person,
      emailKey: emailKeyOf(person.email),
      emailVerified: isVerified,
      selfRegistered: !isVerified,
      role: 'owner',
      roleId: roleIds[0]!,
    },
    { tx },
  )
  return { organization: organization!.toObject(), owner }
}
