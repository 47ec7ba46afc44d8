import { randomBytes } from 'node:crypto'
import type { Sealed, Secrets } from '@rollcall/credentials'
import { Webhook as Signer } from 'standardwebhooks'
import { secretPlace, type Webhook } from './webhook.model.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Returns a new signing secret. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Returns the start and end of a secret. */
export function previewSecret(secret: string): string {
  return `${secret.slice(0, PREFIX.length + 4)}****${secret.slice(-4)}`
}

/** Returns the headers that sign a body, with the newest secret first (Standard Webhooks). */
export function signatureHeaders(
  secrets: Secrets,
  webhook: Webhook,
  { id, body, at }: { id: string; body: string; at: Date },
): Record<string, string> {
  const place = secretPlace.signing(webhook)
  const live = [
    webhook.secret,
    ...validUntil(webhook.secretExpiresAt, webhook.previousSecret, at),
    ...validUntil(webhook.oldestSecretExpiresAt, webhook.oldestSecret, at),
  ]
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': live.map(each => new Signer(secrets.open(each, place)).sign(id, at, body)).join(' '),
  }
}

function validUntil(expiresAt: Date | null, secret: Sealed | null, at: Date): Sealed[] {
  return secret && expiresAt && expiresAt > at ? [secret] : []
}
