import { emailKeyOf } from '@rollcall/contract'
import { serviceCaller } from '@rollcall/rpc'
import { createContext } from './context.ts'
import { notifySecondFactor } from './second-factor/notify.ts'
import { service } from './service.ts'
import { turnTotpOff } from './users/reset-totp.ts'

/** `rollcall-admin reset-second-factor`: turns an account's second factor off, ends its sessions and tells the person. */
export function resetSecondFactor(organizationId: string, email: string): Promise<void> {
  return service.runTask('second-factor-reset', async base => {
    const { logger } = base.lifecycle
    const context = await createContext(base)
    const { users } = base.collections.of(organizationId)
    const user = await users.findOne({ emailKey: emailKeyOf(email) })
    if (!user) throw new Error('the organization has no account with this address')
    await turnTotpOff(context, String(user._id), serviceCaller('identity', organizationId))
    await notifySecondFactor(context, user, 'reset', { logger })
    logger.info({ organizationId, userId: String(user._id) }, 'second factor turned off')
  })
}
