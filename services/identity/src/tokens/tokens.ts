import { AppError, json, updated } from '@rollcall/contract'
import type { Updated } from '@rollcall/protos/gen/types.ts'
import type { Caller, Handlers } from '@rollcall/rpc'
import { changedFields, changesBetween, objectId, runList } from '@rollcall/store'
import type { ClientSession } from 'mongoose'
import type { Tenant } from '../collections.ts'
import type { Context } from '../context.ts'
import { publish } from '../events.ts'
import { tokenAuthorityOf } from '../roles/authority.ts'
import { refuseExcess } from '../roles/permissions.ts'
import { holdCredential } from '../sessions/credential.ts'
import { endSessions } from '../sessions/end-sessions.ts'
import { refuseHigherRank } from '../users/protections.ts'
import { createToken } from './create-token.ts'
import { addStatus, showToken, type Token, tokenFields } from './token.model.ts'
import { listTokenUsage } from './token-usage.ts'

/** Handlers for API tokens. */
export const tokens = (context: Context): Handlers<'rollcall.identity.v1.Tokens'> => ({
  async listTokens({ list }, { caller }) {
    const { tokens } = context.collections.of(caller.organizationId)
    return runList({ scope: tokens, stages: [addStatus()], query: list ?? {}, fields: tokenFields })
  },

  createToken: (request, { caller }) => createToken(context, request, caller),

  async getToken({ id }, { caller }) {
    const token = await showToken(context.collections.of(caller.organizationId).tokens, objectId(id))
    if (!token) throw new AppError('token.not_found')
    return json(token)
  },

  updateToken: ({ id, ...changes }, { caller }) => updateToken(context, id, changes, caller),

  deleteToken: ({ id }, { caller }) => {
    const { tokens, tokenUses, roles } = context.collections.of(caller.organizationId)
    return changeToken(context, id, caller, async tx => {
      const record = await showToken(tokens, objectId(id), tx)
      const token = await tokens.findOneAndDelete({ _id: id }, { tx })
      if (!token || !record) throw new AppError('token.not_found')
      const { organization, _id: subject, roleId } = token
      await tokenUses.deleteMany({ token: subject }, { tx })
      await endSessions(context, { 'origin.id': subject }, caller, tx)
      if (roleId) await roles.updateOne({ _id: roleId }, { $inc: { tokenCount: -1 } }, { tx })
      await publish(context, caller, 'token.deleted', { organization, subject, data: { token: record } }, tx)
      return json(record)
    })
  },

  listTokenUsage: (request, { caller }) => listTokenUsage(context, request, caller),

  setAllowedIps: ({ id, cidrs }, { caller }) =>
    updateToken(context, id, { allowedIps: [...new Set(cidrs.map(cidr => cidr.toLowerCase()))] }, caller),
})

type Changes = Partial<Pick<Token, 'name' | 'description' | 'active' | 'archived' | 'allowedIps'>>

/**
 * Updates fields of a token and publishes which of them changed.
 * @throws {AppError} account.higher_rank or role.exceeds_permissions if the caller widens a token that exceeds the
 * caller; access.session_required for a token that sets its own addresses
 */
async function updateToken(context: Context, id: string, changes: Changes, caller: Caller): Promise<Updated> {
  const tenant = context.collections.of(caller.organizationId)
  const { tokens } = tenant
  if (changes.allowedIps && id === caller.tokenId) throw new AppError('access.session_required')
  await changeToken(context, id, caller, async tx => {
    if (changes.active || changes.archived === false) await holdCredential(tenant, caller, tx)
    const shown = await showToken(tokens, objectId(id), tx)
    const before = await tokens.findOneAndUpdate({ _id: id }, { $set: changes }, { tx, returnDocument: 'before' })
    if (!before || !shown) throw new AppError('token.not_found')
    const { organization, _id: subject } = before
    const changed = changedFields(before, changes)
    if (isWider(changed, changes)) await refuseSuperiorToken(tenant, before, caller, tx)
    const token = (await showToken(tokens, subject, tx))!
    const data = { token, changed, changes: changesBetween(changed, shown, token) }
    await publish(context, caller, 'token.updated', { organization, subject, data }, tx)
  })
  return updated()
}

/** Whether a token can do more after a change. New addresses count as more. */
function isWider(changed: string[], { active, archived }: Changes): boolean {
  return changed.some(
    field => (field === 'active' && active) || (field === 'archived' && !archived) || field === 'allowedIps',
  )
}

/** Rejects a token with a higher rank, or with permissions that the caller lacks. */
async function refuseSuperiorToken(
  { users, roles }: Tenant,
  token: Token,
  caller: Caller,
  tx: ClientSession,
): Promise<void> {
  const creator = await users.findOne({ _id: token.creator }, { tx })
  const authority = creator && (await tokenAuthorityOf(roles, token, creator, tx))
  if (!authority) return
  refuseHigherRank(authority, caller)
  refuseExcess(authority.permissions, caller.permissions)
}

/** Changes a token and invalidates its cache entry, so that the next request sees the change. */
async function changeToken<T>(
  { collections, credentials, store }: Context,
  id: string,
  { organizationId }: Caller,
  write: (tx: ClientSession) => Promise<T>,
): Promise<T> {
  const token: Token = await collections.of(organizationId).tokens.get(id, 'token')
  const scope = { organizationId, credentials: [{ kind: 'token' as const, id: token.tokenPreview }] }
  return credentials.change(scope, timeoutMs => store.transaction(write, { timeoutMs }))
}
