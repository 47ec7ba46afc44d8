import { hash, verify } from '@node-rs/argon2'
import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import { pause } from '@rollcall/runtime'
import { isCommonPassword } from './common-passwords.ts'
import { createPasswordQueue, type PasswordQueue, type PasswordQueueOptions } from './password-queue.ts'

/** Who sets a password: the organization of the account where there is one yet, and the address of the request. */
export type PasswordSetter = { organizationId?: string; ip?: string | undefined }

/** Hashes and checks passwords. */
export type Passwords = {
  /**
   * The argon2id hash of a password that is being set, with its salt and parameters.
   * @throws {AppError} invalid_field for one that attackers try first, too_many_pending, unavailable
   */
  hash(password: string, setter: PasswordSetter): Promise<string>
  /** Whether a password fits a hash. Without a hash the answer is no, at the same cost. */
  fits(password: string, passwordHash: string | undefined): Promise<boolean>
  /** Takes about as long as `fits` does, and computes nothing. */
  pretend(): Promise<void>
  /** Whether a hash was made with weaker parameters than those of today. */
  isOutdated(passwordHash: string): boolean
}

/** argon2id as OWASP advises it: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** How much the latest check weighs in what one is said to take. */
const LATEST_WEIGHT = 0.2

/**
 * Creates what computes passwords: on libuv's threads, off the event loop, and so few at once that a flood of sign-ins
 * neither fills the memory nor keeps the threads from everything else.
 */
export async function createPasswords(
  options: PasswordQueueOptions,
  queue: PasswordQueue = createPasswordQueue(options),
): Promise<Passwords> {
  const startedAt = performance.now()
  const nobodysHash = await hash('nobody', parameters)
  let usualMs = performance.now() - startedAt

  return {
    async hash(password, setter) {
      if (isCommonPassword(password)) throw new AppError('password.too_common')
      return queue.set(() => hash(canonical(password), parameters), namesOf(setter))
    },
    async fits(password, passwordHash) {
      const askedAt = performance.now()
      const fits = await queue.signIn(() => verify(passwordHash ?? nobodysHash, canonical(password)))
      usualMs += LATEST_WEIGHT * (performance.now() - askedAt - usualMs)
      return fits && passwordHash !== undefined
    },
    pretend: () => pause(usualMs),
    isOutdated(passwordHash) {
      const [, memoryCost, timeCost] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),/.exec(passwordHash) ?? []
      return !(Number(memoryCost) >= parameters.memoryCost && Number(timeCost) >= parameters.timeCost)
    },
  }
}

/** Who sets a password by a request, for an account of its own organization unless another is named. */
export function setterOf({ organizationId, ip }: Caller, accountsOrganization = organizationId): PasswordSetter {
  return { organizationId: accountsOrganization, ip }
}

/** One password, however the keyboard composes its accents. */
function canonical(password: string): string {
  return password.normalize('NFKC')
}

function namesOf({ organizationId, ip }: PasswordSetter): string[] {
  return [...(organizationId ? [`organization ${organizationId}`] : []), ...(ip ? [`address ${ip}`] : [])]
}
