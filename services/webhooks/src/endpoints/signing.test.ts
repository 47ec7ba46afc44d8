import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { createSecrets, parseKeyRing } from '@rollcall/credentials'
import { Types } from 'mongoose'
import { Webhook as Verifier } from 'standardwebhooks'
import { newSecret, signatureHeaders } from './signing.ts'
import { secretPlace, type Webhook } from './webhook.model.ts'

const secrets = createSecrets(parseKeyRing(`first:${randomBytes(32).toString('base64')}`))
const place = { _id: new Types.ObjectId(), organization: new Types.ObjectId() }
const [current, previous, oldest] = [newSecret(), newSecret(), newSecret()]
const seal = (secret: string) => secrets.seal(secret, secretPlace.signing(place))
const at = new Date()
const body = '{"type":"contact.created"}'

describe('a replaced secret', () => {
  const signers = (previousEndsAt: Date, oldestEndsAt: Date) => {
    const webhook = {
      ...place,
      secret: seal(current),
      previousSecret: seal(previous),
      secretExpiresAt: previousEndsAt,
      oldestSecret: seal(oldest),
      oldestSecretExpiresAt: oldestEndsAt,
    } as Webhook
    const headers = signatureHeaders(secrets, webhook, { id: 'msg_1', body, at })
    const signs = (secret: string) => {
      try {
        return Boolean(new Verifier(secret).verify(body, headers))
      } catch {
        return false
      }
    }
    return [current, previous, oldest].map(signs)
  }
  const later = new Date(at.getTime() + 1)

  it('signs until its overlap ends', () => assert.deepEqual(signers(later, later), [true, true, true]))

  it('signs no more at its end', () => {
    assert.deepEqual(signers(later, at), [true, true, false])
    assert.deepEqual(signers(at, at), [true, false, false])
  })
})
