import { allows } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import type { ClientSession } from 'mongoose'
import type { Context } from '../context.ts'
import type { Role } from './role.model.ts'

const MAX_NAMES = 50

/** Names of tokens and members with a role. */
export type AffectedNames = { tokens: string[]; members: string[] }

/** Returns the names of at most 50 tokens and 50 members with a role, as far as the caller may read them. */
export async function namesOfAffected(
  { collections }: Context,
  role: Role,
  { permissions }: Caller,
  tx: ClientSession,
): Promise<AffectedNames> {
  const { users, members, tokens } = collections.of(role.organization)
  const page = { tx, sort: { _id: 1 }, limit: MAX_NAMES } as const
  const carriers = allows(permissions, 'tokens', 'read') ? await tokens.find({ roleId: role._id }, page) : []
  if (!allows(permissions, 'users', 'read')) return { tokens: namesOf(carriers), members: [] }
  const memberships = await members.find({ roleId: role._id, gone: false }, page)
  const invited = memberships.map(({ user }) => user)
  const people = await users.find({ $or: [{ role: role.name }, { _id: { $in: invited } }] }, page)
  return { tokens: namesOf(carriers), members: namesOf(people) }
}

function namesOf(records: readonly { name: string }[]): string[] {
  return records.map(({ name }) => name)
}
