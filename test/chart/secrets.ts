import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICES } from '@rollcall/local'
import { newKeySettings } from '@rollcall/rpc/service-keys'
import { parse } from 'yaml'
import type { Secrets } from './check.ts'

/** The service that a profile adds to the chart. */
const ADDED = 'reports'

/** Returns the Secrets that the profiles refer to: those of secrets.yaml, and keys and accounts of each service. */
export function readSecrets(): Secrets {
  const secrets = parse(readFileSync(join(import.meta.dirname, 'secrets.yaml'), 'utf8')) as Secrets
  const settings = newKeySettings([...SERVICES, ADDED])
  const keys = secrets['rollcall-keys']! // shared with its aliases
  for (const [service, { ASSERTION_KEY, ASSERTION_PUBLIC_KEYS }] of Object.entries(settings)) {
    Object.assign(keys, { [`ASSERTION_KEY_${service.toUpperCase()}`]: ASSERTION_KEY, ASSERTION_PUBLIC_KEYS })
    secrets[`rollcall-mtls-${service}`] = { 'tls.crt': '', 'tls.key': '', 'ca.crt': '' }
    secrets[`rollcall-kafka-${service}`] = { username: 'a-service', password: 'a-password' }
  }
  return secrets
}
