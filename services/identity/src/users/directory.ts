import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'

/** Handlers for services that look up users. */
export const directory = (context: Context): Handlers<'rollcall.identity.v1.Directory'> => ({
  async findUsers({ ids }, { caller }) {
    const { users } = context.collections.of(caller.organizationId)
    const found = await users.find({ _id: { $in: ids } })
    return {
      users: found.map(({ _id, name, email, role, blocked }) => ({ id: String(_id), name, email, role, blocked })),
    }
  },
})
