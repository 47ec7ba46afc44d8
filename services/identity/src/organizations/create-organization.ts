import { emailKeyOf } from '@rollcall/contract'
import type { ClientSession } from 'mongoose'
import { Types } from 'mongoose'
import type { Context } from '../context.ts'
import { builtInRoles } from '../roles/built-in.ts'
import type { User } from '../users/user.model.ts'
import type { Organization } from './organization.model.ts'

/** A new organization and its owner. */
export type Founding = {
  organization: string
  name: string
  email: string
  passwordHash: string
  /** Set if the owner is signed in immediately. */
  lastLoginAt?: Date
  /** Created by the first start with an address trusted by the operator; a second one is a duplicate. */
  bootstrap?: true
}

/** Creates an organization with its built-in roles and its owner, within a transaction. */
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
