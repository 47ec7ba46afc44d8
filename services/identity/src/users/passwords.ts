import { hash, verify } from '@node-rs/argon2'
import { AppError } from '@rollcall/contract'
import type { Caller } from '@rollcall/rpc'
import { pause } from '@rollcall/runtime'
import { isCommonPassword } from './common-passwords.ts'
import { createPasswordQueue, type PasswordQueue, type PasswordQueueOptions } from './password-queue.ts'

/** Fewest characters of a password. The contract checks it in requests. */
export const MIN_PASSWORD_LENGTH = 8

/** Who sets a password: the account's organization, if it exists, and the client address. */
export type PasswordSetter = { organizationId?: string; ip?: string | undefined }

/** Hashes and checks passwords. */
export type Passwords = {
  /**
   * Returns the argon2id hash of a new password, with salt and parameters.
   * @throws {AppError} password.too_common, quota.too_many_pending, service.unavailable
   */
  hash(password: string, setter: PasswordSetter): Promise<string>
  /** Whether a password matches a hash. Without a hash: false, in the same time. */
  fits(password: string, passwordHash: string | undefined): Promise<boolean>
  /** Waits about as long as `fits` takes, without computing. */
  pretend(): Promise<void>
  /** Whether a hash uses weaker parameters than the current ones. */
  isOutdated(passwordHash: string): boolean
}

/** Parameters of argon2id; `memoryCost` is in KiB. */
export type PasswordCost = { memoryCost: number; timeCost: number; parallelism: number }

/** OWASP recommendation: 19 MiB, two passes, one lane. */
const RECOMMENDED: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Weight of the latest check in the moving average of the duration. */
const LATEST_WEIGHT = 0.2

/**
 * Creates the password hasher. It uses libuv threads with limited concurrency, so that a flood of sign-ins exhausts
 * neither memory nor the thread pool. Default cost: as OWASP recommends.
 */
export async function createPasswords(
  { cost = RECOMMENDED, ...limits }: PasswordQueueOptions & { cost?: PasswordCost | undefined },
  queue: PasswordQueue = createPasswordQueue(limits),
): Promise<Passwords> {
  const startedAt = performance.now()
  const nobodysHash = await hash('nobody', cost)
  let usualMs = performance.now() - startedAt

  return {
    async hash(password, setter) {
      if (isCommonPassword(password)) throw new AppError('password.too_common')
      return queue.set(() => hash(canonical(password), cost), namesOf(setter))
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
      return !(Number(memoryCost) >= cost.memoryCost && Number(timeCost) >= cost.timeCost)
    },
  }
}

/** Returns the setter for a request; default organization: the caller's. */
export function setterOf({ organizationId, ip }: Caller, accountsOrganization = organizationId): PasswordSetter {
  return { organizationId: accountsOrganization, ip }
}

/** Normalizes Unicode, because keyboards compose accents differently. */
function canonical(password: string): string {
  return password.normalize('NFKC')
}

function namesOf({ organizationId, ip }: PasswordSetter): string[] {
  return [...(organizationId ? [`organization ${organizationId}`] : []), ...(ip ? [`address ${ip}`] : [])]
}
