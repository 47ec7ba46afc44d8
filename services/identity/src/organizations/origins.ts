import type { Handlers } from '@rollcall/rpc'
import type { Context } from '../context.ts'

/** Handlers for the gateway, which answers preflight requests. */
export const origins = ({ collections }: Context): Handlers<'rollcall.identity.v1.Origins'> => ({
  async checkOrigin({ origin }) {
    const found = await collections.unscoped.organizations.exists({ 'settings.allowedOrigins': origin })
    return { allowed: found !== null }
  },
})
