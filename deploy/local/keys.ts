import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keySettings, newSigningKey } from '@rollcall/rpc/service-keys'
import { z } from 'zod'
import { Problem } from './problem.ts'
import { SERVICES, type ServiceName } from './service-names.ts'

const key = () => randomBytes(32).toString('base64')
const ring = () => `local:${key()}`

const newSigningKeys = () =>
  Object.fromEntries(SERVICES.map(service => [service, newSigningKey(service)])) as Record<ServiceName, string>

const schema = z.object({
  /** Sign between services whom a call is made for: each service has one of its own. */
  ASSERTION_KEYS: z
    .partialRecord(z.enum(SERVICES), z.string())
    .default({})
    .transform(known => ({ ...newSigningKeys(), ...known })),
  /** Hashes the secrets of API tokens, clients, links and codes. */
  TOKEN_KEY: z.string(),
  /** Signs sessions. */
  SESSION_KEYS: z.string(),
  /** Encrypts the secrets that messaging stores: keys of mail providers, DKIM keys, passwords of mail servers. */
  SECRET_KEYS: z.string().default(() => ring()),
})

/** The keys of one stack. */
export type Keys = z.infer<typeof schema>

/** Keys nobody had before. */
export const newKeys = (): Keys => ({
  ASSERTION_KEYS: newSigningKeys(),
  TOKEN_KEY: ring(),
  SESSION_KEYS: ring(),
  SECRET_KEYS: ring(),
})

/** The keys that several services share, by service. */
const shared: Readonly<Record<ServiceName, readonly ('TOKEN_KEY' | 'SESSION_KEYS' | 'SECRET_KEYS')[]>> = {
  identity: ['TOKEN_KEY', 'SESSION_KEYS'],
  audience: [],
  messaging: ['SECRET_KEYS'],
  import: [],
  gateway: ['TOKEN_KEY', 'SESSION_KEYS'],
}

/** The keys that one service is given, by the names of their variables: no more than it needs. */
export function keysOf(service: ServiceName, keys: Keys): Record<string, string> {
  const given = shared[service].map(name => [name, keys[name]])
  return { ...Object.fromEntries(given), ...keySettings(keys.ASSERTION_KEYS)[service] }
}

const keptSchema = z.object({
  keys: schema,
  /** The owner as bootstrapped at the first start; without a password if that was given, not made here. */
  owner: z.object({ email: z.string(), password: z.string().optional() }),
})

/** What a stack keeps between its starts and nobody else is to read. */
export type Kept = z.infer<typeof keptSchema>

/**
 * The keys and the owner's sign-in of the stack in this folder, made at its first start. A given sign-in counts only
 * then: later the account exists, with its own password.
 */
export function keptIn(dataDir: string, given: { email: string; password?: string | undefined }): Kept {
  const file = join(dataDir, 'keys.json')
  const known = read(file)
  if (known) {
    write(file, known) // keys that the file was too old to hold are kept from now on
    return known
  }
  const password = given.password === undefined ? { password: newPassword() } : {}
  const kept = { keys: newKeys(), owner: { email: given.email, ...password } }
  write(file, kept)
  return kept
}

function read(file: string): Kept | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return keptSchema.parse(JSON.parse(text))
  } catch {
    throw new Problem(`${file} is not readable as keys: bring it back, or remove it (all sessions and API tokens end)`)
  }
}

function write(file: string, kept: Kept): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.part`, file)
}

const newPassword = () => randomBytes(12).toString('base64url')
