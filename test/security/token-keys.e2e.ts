import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { MongoClient } from 'mongodb'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'

const run = promisify(execFile)
const key = () => randomBytes(32).toString('base64')
const old = key()
const next = `next:${key()}`

/** The hash of secrets before keys had names: with the key itself, without a purpose. */
const hashOfBefore = (secret: string) =>
  createHmac('sha256', Buffer.from(old, 'base64')).update(secret).digest('base64url')

describe('finding 24: the key that stored secrets are hashed with', () => {
  let stack: TestStack
  let database: MongoClient
  before(async () => {
    stack = await startStack({ gateways: 2, settings: { ...manyAddresses, TOKEN_KEY: old } })
    database = new MongoClient(stack.backing.MONGODB_URL)
  })
  after(async () => {
    await database?.close()
    await stack?.stop()
  })

  const collection = (name: string) => database.db(`${stack.namespace}rollcall_identity`).collection(name)
  const statusOf = (api: Api, url = stack.urls[0]!) =>
    fromElsewhere(api)
      .at(url)
      .get('/api/auth/me')
      .then(({ status }) => status)

  /** Restarts identity and the gateways with other keys. The last gateway can have different ones. */
  async function restartWith(keys: string, keysOfLastGateway = keys) {
    const [first, last] = stack.instances('gateway')
    for (const instance of [...stack.instances('identity'), first!, last!]) {
      instance.environment.TOKEN_KEY = instance === last ? keysOfLastGateway : keys
      await instance.stop()
      await instance.start()
    }
  }

  const countHashes = () =>
    run(process.execPath, [join(import.meta.dirname, '../../libs/admin/src/rollcall-admin.ts'), 'count-hashes'], {
      env: { ...process.env, ...stack.instances('identity')[0]!.environment, LOG_LEVEL: 'info' },
    })

  const register = () =>
    bodyOf(
      fromElsewhere(stack.api).post<{ client_id: string; client_secret: string }>('/api/auth/clients', {
        client_name: 'rotation',
        redirect_uris: ['https://client.example.com/'],
      }),
      201,
    )
  const exchange = (client: { client_id: string; client_secret: string }, token: string) =>
    fromElsewhere(stack.api).post('/api/auth/token', {
      ...client,
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    })

  it('can be replaced without ending a single API token, client or invitation', async () => {
    const used = await makeToken(stack.owner)
    const unused = await makeToken(stack.owner)
    const client = await register()
    const { id: workspace } = await bodyOf(stack.owner.post<{ id: string }>('/api/workspaces', { name: 'Keys' }), 201)
    const invited = { email: 'invited@rollcall.test', role: 'user' }
    const { acceptUrl } = await bodyOf(
      stack.owner.post<{ acceptUrl: string }>(`/api/workspaces/${workspace}/invitations`, invited),
      201,
    )
    const secretOf = ({ token }: { token: string }) => token.slice(25)
    for (const token of [used, unused]) {
      const tokenPreview = new RegExp(`${secretOf(token).slice(-4)}$`)
      await collection('tokens').updateOne({ tokenPreview }, { $set: { hash: hashOfBefore(secretOf(token)) } })
    }
    const secretHash = hashOfBefore(client.client_secret)
    await collection('clients').updateOne({ clientId: client.client_id }, { $set: { secretHash } })

    await restartWith(`${old},${next}`)
    assert.equal(await statusOf(used.api), 200)
    assert.equal((await exchange(client, used.token)).status, 200)
    const kept = await collection('tokens').findOne({ hash: hashOfBefore(secretOf(used)) })
    assert.ok(kept, 'a rollback must find it')

    await restartWith(`${next},${old}`)
    assert.equal(await statusOf(used.api), 200)
    assert.equal((await exchange(client, used.token)).status, 200)
    const declined = await fromElsewhere(stack.api).post(`/api/invitations/${acceptUrl.split('/').at(-1)}/decline`)
    assert.equal(declined.status, 200)

    const counted = /secrets hashed under another key than the first: 1"/
    await assert.rejects(countHashes(), (error: { stdout: string }) => counted.test(error.stdout), 'the unused token')
    await bodyOf(fromElsewhere(stack.owner).patch(`/api/tokens/${unused.id}`, { archived: true }))
    await countHashes()
    await bodyOf(fromElsewhere(stack.owner).patch(`/api/tokens/${unused.id}`, { archived: false }))

    await restartWith(next)
    assert.equal(await statusOf(used.api), 200, 'used since the new key was first')
    assert.equal((await exchange(client, used.token)).status, 200)
    assert.equal(await statusOf(unused.api), 401, 'never used')
  })

  it('leaves a token revoked at once while two gateways have their keys in another order', async () => {
    await restartWith(`${next},${old}`, `${old},${next}`)
    const [first, last] = stack.urls as [string, string]
    for (let round = 0; round < 8; round++) {
      const { id, api } = await makeToken(stack.owner)
      for (const url of [first, last, first, last]) assert.equal(await statusOf(api, url), 200)
      await bodyOf(fromElsewhere(stack.owner).patch(`/api/tokens/${id}`, { active: false }))
      for (const url of [last, first]) assert.equal(await statusOf(api, url), 401)
    }
  })
})
