import { holderOf, type SecretHolder } from '@rollcall/service'
import type { Collections } from './collections.ts'
import { totpPlace } from './second-factor/second-factor.ts'

/** Returns where identity stores sealed secrets. */
export function secretHolders({ users }: Pick<Collections['unscoped'], 'users'>): SecretHolder[] {
  return [holderOf(users, user => [{ path: 'totp.secret', sealed: user.totp?.secret, place: totpPlace(user) }])]
}
