import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'

/** The accounts of an organization, as services that refer to users see them. */
export const directory = (context: Context): Handlers<'rollcall.identity.v1.Directory'> => ({
  async findUsers({ ids }, { caller }) {
    const { users } = context.collections.of(caller.organizationId)
    const found = await users.find({ _id: { $in: ids } })
    return {
      users: found.map(({ _id, name, email, role, blocked }) => ({ id: String(_id), name, email, role, blocked })),
    }
  },
})
