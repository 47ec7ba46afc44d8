import type { Context } from '../context.ts'
import type { User } from './user.model.ts'

/** Returns a hash of an account's password, address and second factor, which tells whether one of them changed since. */
export function accountState({ secrets }: Pick<Context, 'secrets'>, user: User): string {
  return secrets['account-state'].hash(stateOf(user))
}

/** Whether an account has the password, address and second factor of an earlier `accountState`. */
export function isUnchanged({ secrets }: Pick<Context, 'secrets'>, user: User, state: string): boolean {
  return secrets['account-state'].matches(state, stateOf(user))
}

function stateOf({ passwordHash, emailKey, totp }: User): string {
  return JSON.stringify([passwordHash, emailKey, totp?.confirmedAt])
}
