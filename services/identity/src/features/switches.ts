import { AppError } from '@rollcall/contract'
import type { Scope } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { User } from '../users/user.model.ts'
import type { Feature } from './feature.model.ts'

/** Features that are switched on or off, by slug. */
export type Switches = Record<string, boolean>

/**
 * Merges the switches of a request into the existing ones; null removes a switch.
 * @throws {AppError} request.extra_field if the organization has no feature with the slug
 */
export async function switched(
  features: Scope<Feature>,
  before: Switches,
  request: Record<string, boolean | null> = {},
  tx?: ClientSession,
): Promise<Switches> {
  const wanted = Object.entries(request)
  const known = await features.find({ slug: { $in: wanted.map(([slug]) => slug) } }, { tx })
  const slugs = new Set(known.map(({ slug }) => slug))
  const unknown = wanted.find(([slug]) => !slugs.has(slug))
  if (unknown) throw new AppError('request.extra_field', { path: `features.${unknown[0]}` })
  return withoutNulls({ ...before, ...Object.fromEntries(wanted) })
}

/** Returns all features as they apply to a user: the user's own setting, else the role's, else the default. */
export async function resolveFeatures(features: Scope<Feature>, { roleId, features: own }: User): Promise<Switches> {
  const all = await features.find({}, { sort: { slug: 1 } })
  return Object.fromEntries(
    all.map(({ slug, roles, default: byDefault }) => {
      const byRole = roles.find(({ role }) => role.equals(roleId))?.on
      return [slug, own?.[slug] ?? byRole ?? byDefault]
    }),
  )
}

function withoutNulls(switches: Record<string, boolean | null>): Switches {
  return Object.fromEntries(Object.entries(switches).filter((entry): entry is [string, boolean] => entry[1] !== null))
}
