import { hash, verify } from '@node-rs/argon2'
import { AppError } from '@rollcall/rpc'

/** Hashes and checks passwords. */
export type Passwords = {
  /** The argon2id hash of a password, with its salt and parameters. */
  hash(password: string): Promise<string>
  /** Whether a password fits a hash. Without a hash the answer is no, at the same cost. */
  fits(password: string, passwordHash: string | undefined): Promise<boolean>
}

/** `parallelism`: how many passwords are computed at once; `maxWaiting`: how many more may wait for their turn. */
export type PasswordsOptions = { parallelism: number; maxWaiting: number }

/** argon2id as OWASP advises it: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Creates what computes passwords: on libuv's threads, off the event loop, and so few at once that a flood of sign-ins
 * neither fills the memory nor keeps the threads from everything else. Past `maxWaiting`: AppError unavailable.
 */
export async function createPasswords({ parallelism, maxWaiting }: PasswordsOptions): Promise<Passwords> {
  const inTurn = createTurns(parallelism, maxWaiting)
  const nobodysHash = await hash('nobody', parameters)
  return {
    hash: password => inTurn(() => hash(canonical(password), parameters)),
    async fits(password, passwordHash) {
      const fits = await inTurn(() => verify(passwordHash ?? nobodysHash, canonical(password)))
      return fits && passwordHash !== undefined
    },
  }
}

/** One password, however the keyboard composes its accents. */
function canonical(password: string): string {
  return password.normalize('NFKC')
}

/** Runs at most `atOnce` tasks at a time, in the order they came. */
function createTurns(atOnce: number, maxWaiting: number) {
  const waiting: (() => void)[] = []
  let running = 0

  const begin = async () => {
    if (running < atOnce) running++
    else if (waiting.length >= maxWaiting) throw new AppError('unavailable', {})
    else await new Promise<void>(resolve => waiting.push(resolve))
  }
  const end = () => {
    const next = waiting.shift()
    if (next) next()
    else running--
  }

  return async <T>(task: () => Promise<T>): Promise<T> => {
    await begin()
    try {
      return await task()
    } finally {
      end()
    }
  }
}
