import assert from 'node:assert/strict'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { bytesOfIds, createSignedTokens, type KeyRing, parseKeyRing } from '@rollcall/credentials'
import { freePort } from '@rollcall/local'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { MongoClient, ObjectId } from 'mongodb'
import { bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { BOUNCE, returnMail } from '../messaging/returned-mail.ts'
import { counted, isSoak, seed } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'

/** M4 of the goals. */
const attempts = counted(300, 10_000)
const timeout = scaledTimeout(isSoak ? 3_600_000 : 120_000)
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

describe('tokens of mails that were not signed here', () => {
  let stack: TestStack
  let mongo: MongoClient
  let organizationId: string
  let contact: { id: string; email: string }
  let keys: KeyRing
  let bouncePort: number
  const message = new ObjectId()
  const others: KeyRing = parseKeyRing(`other:${randomBytes(32).toString('base64')}`)
  before(async () => {
    bouncePort = await freePort()
    stack = await startStack({ settings: { ...manyAddresses, BOUNCE_SMTP_PORT: String(bouncePort) } })
    mongo = await new MongoClient(stack.backing.MONGODB_URL).connect()
    organizationId = (await bodyOf(stack.owner.get<{ organization: { id: string } }>('/api/auth/me'))).organization.id
    contact = await bodyOf(stack.owner.post('/api/audience', { email: 'reader@example.com', name: 'Reader' }), 201)
    keys = parseKeyRing(stack.instances('messaging')[0]!.environment.LINK_KEYS!)
    const sentAt = new Date(Date.now() - 3_600_000)
    const { id, email: to } = contact
    await database('messaging')
      .collection('mails')
      .insertOne({
        _id: message,
        organization: new ObjectId(organizationId),
        key: 'forged',
        kind: 'transactional',
        ...{ to, contact: id, user: null, from: 'a@example.org', messageId: `<${message}@example.org>`, subject: 'S' },
        ...{ status: 'sent', sentAt, steps: [], createdAt: sentAt, updatedAt: sentAt, dueAt: null },
      })
  })
  after(async () => {
    await mongo?.close()
    await stack?.stop()
  })

  const database = (service: string) => mongo.db(`${stack.namespace}rollcall_${service}`)
  /** What every token of a mail could change. */
  const state = async () => {
    const ours = (service: string, name: string) => database(service).collection(name).find().sort({ _id: 1 }).toArray()
    return JSON.stringify([
      await ours('messaging', 'mails'),
      await ours('messaging', 'suppressions'),
      await ours('messaging', 'clicks'),
      await ours('audience', 'contacts'),
    ])
  }

  const idsOf = {
    unsubscribe: () => bytesOfIds(organizationId, contact.id, String(message)),
    open: () => bytesOfIds(organizationId, String(message)),
    click: () => Buffer.concat([bytesOfIds(organizationId, String(message)), Buffer.from('https://example.com/')]),
    'web-version': () => bytesOfIds(organizationId, contact.id, String(message), contact.id),
    'provider-webhook': () => bytesOfIds(organizationId),
    bounce: () => bytesOfIds(organizationId, String(message)),
  }
  type Purpose = keyof typeof idsOf
  const sign = (ring: KeyRing, purpose: Purpose, as: Purpose = purpose): string => {
    const encoding = as === 'bounce' ? 'base32' : 'base64url'
    return createSignedTokens(ring, purpose, { encoding }).sign(idsOf[as]())
  }

  const visit = (path: string, init: RequestInit = {}) =>
    fetch(stack.urls[0] + path, {
      redirect: 'manual',
      ...init,
      headers: { 'User-Agent': BROWSER, ...fromElsewhere(stack.api).headers, ...init.headers },
    }).then(({ status }) => status)
  const report = (key: string) => {
    const [timestamp, token] = [String(Math.floor(Date.now() / 1000)), randomUUID()]
    const signature = createHmac('sha256', 'guessed').update(`${timestamp}${token}`).digest('hex')
    const reported = { event: 'complained', message: { headers: { 'message-id': `${message}@example.org` } } }
    const body = JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': reported })
    const path = `/api/emails/provider/webhook/${organizationId}/${key}`
    return visit(path, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
  }
  const bounce = (key: string) => returnMail(bouncePort, key, BOUNCE)

  /** Where tokens are taken, and the status that says that one was not. */
  const doors: [purpose: Purpose, knock: (key: string) => Promise<number>, refusal: number][] = [
    [
      'unsubscribe',
      key => visit(`/u/${key}`, { method: 'POST', headers: FORM, body: 'List-Unsubscribe=One-Click' }),
      404,
    ],
    ['unsubscribe', key => visit(`/u/${key}`, { method: 'POST', headers: FORM, body: 'action=unsubscribe' }), 404],
    ['open', key => visit(`/t/o/${key}.gif`), 404],
    ['click', key => visit(`/t/c/${key}`), 404],
    ['web-version', key => visit(`/v/${key}`), 404],
    ['provider-webhook', report, 401],
    ['bounce', bounce, 550],
  ]

  const purposes = Object.keys(idsOf) as Purpose[]
  const letters = { base64url: 'abcXYZ019-_', bounce: 'abxyz234567' }
  /** Returns a token that was altered, cut, lengthened, made up, or signed for something else or by another installation. */
  const forge = (purpose: Purpose, number: number): string => {
    const token = sign(keys, purpose)
    const alphabet = purpose === 'bounce' ? letters.bounce : letters.base64url
    const at = (number * 7919 + seed) % token.length
    const letter = alphabet[number % alphabet.length]!
    switch (number % 6) {
      case 0:
        return (
          token.slice(0, at) +
          (token[at] === letter ? alphabet[(number + 1) % alphabet.length] : letter) +
          token.slice(at + 1)
        )
      case 1:
        return token.slice(0, at)
      case 2:
        return token.slice(0, at) + letter + token.slice(at)
      case 3:
        return sign(others, purpose)
      case 4: {
        const encoded = Buffer.concat([randomBytes(10), idsOf[purpose]()])
        return purpose === 'bounce' ? encoded.toString('hex').replace(/[0189]/g, 'a') : encoded.toString('base64url')
      }
      default:
        return sign(
          keys,
          purposes[(purposes.indexOf(purpose) + 1 + (number % (purposes.length - 1))) % purposes.length]!,
          purpose,
        )
    }
  }

  test('are refused at every door, and change nothing', { timeout }, async t => {
    const before = await state()
    let accepted = 0
    let next = 0
    const work = async () => {
      for (let number = next++; number < attempts; number = next++) {
        const [purpose, knock, refusal] = doors[number % doors.length]!
        // An empty key is another path, which is not there either.
        if ((await knock(forge(purpose, number))) !== refusal) accepted++
      }
    }
    await Promise.all(Array.from({ length: 8 }, work))
    t.diagnostic(
      `M4  ${attempts} forged tokens: ${accepted} accepted, ${(await state()) === before ? 'no' : 'an'} effect`,
    )
    assert.equal(accepted, 0)
    assert.equal(await state(), before)
  })

  test('have an effect where signatures are not checked, as for who knows the key', { timeout }, async () => {
    for (const [purpose, knock] of doors) {
      if (purpose === 'provider-webhook' || purpose === 'web-version') continue // also needs the provider's key; only shows
      const before = await state()
      await knock(sign(keys, purpose))
      assert.notEqual(await state(), before, purpose)
      await database('audience')
        .collection('contacts')
        .updateMany({}, { $set: { unsubscribed: false } })
    }
  })
})
