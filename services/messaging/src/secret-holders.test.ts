import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { createSecrets, parseKeyRing } from '@rollcall/credentials'
import { createLogger } from '@rollcall/runtime'
import { rotateSecrets } from '@rollcall/service'
import { Types } from 'mongoose'
import { type TestContext, testContext } from '../test/context.ts'
import { createDomain } from './domains/create-domain.ts'
import { dkimKeyPlace } from './domains/domain.model.ts'
import { rotateDkim } from './domains/rotate-dkim.ts'
import { apiKeyPlace } from './provider/provider.model.ts'
import { secretHolders } from './secret-holders.ts'
import { secretPlace } from './senders/secret-places.ts'

const key = (name: string) => `${name}:${randomBytes(32).toString('base64')}`

describe('the rotation of secrets', () => {
  const [old, fresh] = [key('old'), key('fresh')]
  const both = createSecrets(parseKeyRing(`${fresh},${old}`))
  let test: TestContext
  before(async () => {
    test = await testContext({ SECRET_KEYS: old })
  })
  after(() => test.stop())

  const rotate = () => rotateSecrets(secretHolders(test.context.collections.unscoped), both, test.context.logger)

  it('leaves nothing that needs the old key, and the secrets unchanged', async () => {
    const { domains, providers, senders } = test.context.collections.of(test.organizationId)
    const { secrets } = test.context
    const { data } = await createDomain(test.context, { domain: 'rotated.com' }, test.call())
    const { id } = JSON.parse(data.toString())
    await domains.updateOne({ _id: id }, { $set: { status: 'verified', verified: true } })
    await rotateDkim(test.context, id, test.call())
    const before = await domains.findOne({ _id: id })
    const apiKey = secrets.seal('the key', apiKeyPlace(test.organizationId))
    await providers.insertOne({ kind: 'mailgun', apiKey })
    const sender = await senders.insertOne({
      name: 'News',
      email: 'news@rotated.com',
      emailKey: 'news@rotated.com',
      domain: 'rotated.com',
      delivery: 'smtp',
      creator: test.organizationId,
    })
    const smtpPassword = secrets.seal('the password', secretPlace.password(sender))
    const oauthTokens = secrets.seal('the tokens', secretPlace.tokens(sender))
    await senders.updateOne({ _id: sender._id }, { $set: { smtpPassword, oauthTokens } })

    const { oauthRequests } = test.context.collections.of(test.organizationId)
    const hash = 'the hash'
    const place = secretPlace.verifier({ organization: sender.organization, hash })
    const [session, user, expiresAt] = ['s', new Types.ObjectId(), new Date(Date.now() + 600_000)]
    const verifier = secrets.seal('the verifier', place)
    await oauthRequests.insertOne({ hash, verifier, provider: 'google', sender: sender._id, session, user, expiresAt })

    assert.equal(await rotate(), 6)
    assert.equal(await rotate(), 0)

    const onlyFresh = createSecrets(parseKeyRing(fresh))
    const domain = await domains.findOne({ _id: id })
    for (const [index, { privateKey }] of domain!.dkimKeys.entries()) {
      const place = dkimKeyPlace(domain!)
      assert.equal(onlyFresh.open(privateKey!, place), secrets.open(before!.dkimKeys[index]!.privateKey!, place))
    }
    const provider = await providers.findOne({})
    assert.equal(onlyFresh.open(provider!.apiKey!, apiKeyPlace(test.organizationId)), 'the key')
    const found = await senders.findOne({ _id: sender._id })
    assert.equal(onlyFresh.open(found!.smtpPassword!, secretPlace.password(sender)), 'the password')
    assert.equal(onlyFresh.open(found!.oauthTokens!, secretPlace.tokens(sender)), 'the tokens')
    assert.equal(onlyFresh.open((await oauthRequests.findOne({ hash }))!.verifier, place), 'the verifier')
  })

  it('names the key, and fails if secrets are left under another', async () => {
    const lines: string[] = []
    const logger = createLogger({ service: 'test', level: 'info', destination: { write: line => lines.push(line) } })
    await rotateSecrets(secretHolders(test.context.collections.unscoped), both, logger)
    assert.match(lines.join(''), /"key":"fresh","written":0,"left":0,.*"secrets encrypted with the key fresh"/)

    const { providers } = test.context.collections.of(test.organizationId)
    const { secrets } = test.context
    const place = apiKeyPlace(test.organizationId)
    await providers.updateOne({}, { $set: { apiKey: secrets.seal('the key', place) } })
    const unaware = { ...both, seal: secrets.seal } // encrypts with the old key, as a service may do concurrently
    const rotation = rotateSecrets(secretHolders(test.context.collections.unscoped), unaware, logger)
    await assert.rejects(rotation, { message: 'secrets under another key than fresh: 1' })
  })

  it('does not overwrite concurrent changes', async () => {
    const { providers } = test.context.collections.of(test.organizationId)
    const place = apiKeyPlace(test.organizationId)
    const { secrets } = test.context
    await providers.updateOne({}, { $set: { apiKey: secrets.seal('first', place) } })
    const later = both.seal('second', place)
    const interrupting = {
      ...both,
      open: (sealed: Parameters<typeof both.open>[0], where: string) => {
        overwritten = providers.updateOne({}, { $set: { apiKey: later } })
        return both.open(sealed, where)
      },
    }
    let overwritten: Promise<unknown> | undefined
    await rotateSecrets(secretHolders(test.context.collections.unscoped), interrupting, test.context.logger)
    await overwritten
    assert.equal(both.open((await providers.findOne({}))!.apiKey!, place), 'second')
  })
})
