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
  /** Sign the caller identity of calls between services; one key per service. */
  ASSERTION_KEYS: z
    .partialRecord(z.enum(SERVICES), z.string())
    .default({})
    .transform(known => ({ ...newSigningKeys(), ...known })),
  /** Hashes the secrets of API tokens, clients, links and codes. */
  TOKEN_KEY: z.string(),
  /** Signs sessions. */
  SESSION_KEYS: z.string(),
  /**
   * Encrypts stored secrets: keys of mail providers, DKIM keys, passwords of mail servers, second factors, secrets of
   * webhooks.
   */
  SECRET_KEYS: z.string().default(() => ring()),
  /** Signs the links of mails. */
  LINK_KEYS: z.string().default(() => ring()),
  /** Hashes erased addresses that had opted out or are suppressed. */
  ERASURE_KEYS: z.string().default(() => ring()),
})

/** The keys of one stack. */
export type Keys = z.infer<typeof schema>

/** Returns new random keys. */
export function newKeys(): Keys {
  const rings = {
    TOKEN_KEY: ring(),
    SESSION_KEYS: ring(),
    SECRET_KEYS: ring(),
    LINK_KEYS: ring(),
    ERASURE_KEYS: ring(),
  }
  return { ASSERTION_KEYS: newSigningKeys(), ...rings }
}

/** The services that need a key besides their signing key. */
const holders: Readonly<Record<Exclude<keyof Keys, 'ASSERTION_KEYS'>, readonly ServiceName[]>> = {
  TOKEN_KEY: ['identity', 'gateway'],
  SESSION_KEYS: ['identity', 'gateway'],
  SECRET_KEYS: ['identity', 'messaging', 'webhooks'],
  LINK_KEYS: ['messaging', 'content'],
  ERASURE_KEYS: ['audience', 'messaging'],
}

/** Returns the keys that one service needs, by variable. */
export function keysOf(service: ServiceName, keys: Keys): Record<string, string> {
  const held = (Object.keys(holders) as (keyof typeof holders)[]).filter(name => holders[name].includes(service))
  return { ...Object.fromEntries(held.map(name => [name, keys[name]])), ...keySettings(keys.ASSERTION_KEYS)[service] }
}

const keptSchema = z.object({
  keys: schema,
  /** The owner of the first start; with a password only if it was generated here. */
  owner: z.object({ email: z.string(), password: z.string().optional() }),
})

/** The secrets that a stack keeps between starts. */
export type Kept = z.infer<typeof keptSchema>

/**
 * Returns the keys and the owner's sign-in of the stack in this folder, generated at its first start. A given sign-in
 * applies only then: later the account exists, with its own password.
 */
export function keptIn(dataDir: string, given: { email: string; password?: string | undefined }): Kept {
  const file = join(dataDir, 'keys.json')
  const known = read(file)
  if (known) {
    write(file, known) // adds keys that a file of an older version lacks
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
    throw new Problem(
      `${file} is not readable as keys: restore it, or remove it (this ends all sessions and API tokens)`,
    )
  }
}

function write(file: string, kept: Kept): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.part`, file)
}

const newPassword = () => randomBytes(12).toString('base64url')
