import { type Filter, requireRoom, type Scope } from '@rollcall/store'
import type { ClientSession, Types } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { pending } from '../workspaces/invitation.model.ts'

type Kind = { what: string; collection: keyof Tenant; of?(): Filter }

const kinds = {
  tokens: { what: 'API tokens', collection: 'tokens' },
  roles: { what: 'roles', collection: 'roles', of: () => ({ builtIn: false }) },
  accounts: { what: 'accounts', collection: 'users' },
  workspaces: { what: 'workspaces', collection: 'workspaces' },
  invitations: { what: 'pending invitations', collection: 'invitations', of: pending },
  features: { what: 'features', collection: 'features' },
} satisfies Record<string, Kind>

/** Kinds of records with a quota per organization. */
export type QuotaName = keyof typeof kinds

/** Quotas per organization, and active sign-ins per account. */
export type Quotas = Record<QuotaName, number> & { sessions: number }

/**
 * Rejects a record beyond the organization's quota. Call it in the same transaction, before storing the record.
 * @throws {AppError} quota.exceeded
 */
export async function keepQuota(
  { collections, quotas }: Context,
  organization: string | Types.ObjectId,
  name: QuotaName,
  tx: ClientSession,
): Promise<void> {
  const { what, collection, of }: Kind = kinds[name]
  const scope = collections.of(organization)[collection] as Scope<object>
  await requireRoom(scope, { limit: quotas[name], what: `${what} per organization`, of: of?.() ?? {} }, tx)
}
