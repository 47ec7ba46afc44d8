import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createSecretHashers } from '@rollcall/credentials'
import { type Call, serviceCaller } from '@rollcall/rpc'
import { createLogger } from '@rollcall/runtime'
import { connectStore } from '@rollcall/store'
import { startMongod } from '@rollcall/testing/mongod/proxy'
import { Types } from 'mongoose'
import { type Harness, type Person, startHarness, unique } from '../../test/identity.ts'
import { collections } from '../collections.ts'
import { credentials } from './credentials.ts'

const unknownToken = { code: 'token.invalid', status: 401, message: 'Invalid or inactive API token.' }
const badSession = { code: 'session.invalid', status: 401, message: 'Invalid or expired session.' }
const blocked = { code: 'account.blocked', status: 403, message: 'Account is blocked.' }

describe('credentials', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness.stop())

  const client = () => harness.client('rollcall.identity.v1.Credentials')
  const caller = serviceCaller('gateway')
  const collection = (name: string) => harness.db.collection(name)
  const edit = (name: string, id: unknown, set: object) =>
    collection(name).updateOne({ _id: new Types.ObjectId(String(id)) }, { $set: set })
  const remove = (name: string, id: unknown) => collection(name).deleteOne({ _id: new Types.ObjectId(String(id)) })

  /** Resolves without a cache, from the database. */
  const resolveToken = (credential: unknown, organizationId?: string) => {
    const [org, secret] = String(credential).split(':') as [string, string]
    const hashes = createSecretHashers(harness.config.TOKEN_KEY).token.hashes(secret)
    return client().resolveToken({ organizationId: organizationId ?? org, hashes }, { caller })
  }
  const resolveSession = async (
    person: Person,
    change: Partial<{ organizationId: string; sessionId: string; userId: string }> = {},
  ) => {
    const { sid, org, sub } = JSON.parse(Buffer.from(person.credential.split('.')[1]!, 'base64url').toString())
    return client().resolveSession({ organizationId: org, sessionId: sid, userId: sub, ...change }, { caller })
  }
  const role = (permissions: Record<string, unknown>, kind: 'api' | 'user' = 'api', name = unique('role')) =>
    owner.api.roles.saveRole({ name, kind, permissions })

  it('are resolved for services only', async () => {
    const request = { organizationId: owner.organizationId, hashes: ['x'] }
    await assert.rejects(client().resolveToken(request, { caller: await owner.api.caller() }), { status: 403 })
  })

  it('are not resolved by a primary that was replaced and does not know', async () => {
    const { token, id } = await owner.api.tokens.createToken({ name: 'revoked' })
    const mongod = await startMongod({ target: harness.config.MONGODB_URL })
    const dbName = harness.config.MONGODB_DATABASE
    const logger = createLogger({ service: 'identity-test', level: 'silent' })
    const store = await connectStore({ url: mongod.url, dbName, logger })
    const secrets = createSecretHashers(harness.config.TOKEN_KEY)
    const data = collections(store)
    const [organizationId, secret] = String(token).split(':') as [string, string]
    const request = { organizationId, hashes: secrets.token.hashes(secret) }
    const call = { caller, logger } as unknown as Call
    const resolve = () => credentials({ store, secrets, collections: data }).resolveToken(request, call)
    const end = await mongod.becomeStale(['tokens', 'leases'].map(name => `${dbName}.${name}`))
    await owner.api.tokens.updateToken({ id: String(id), active: false })
    const seen = await data.of(organizationId).tokens.findOne({ hash: { $in: request.hashes } })
    assert.equal(seen?.active, true, 'a plain read shows the token as it was')
    await assert.rejects(resolve(), { code: 'service.unavailable' })
    end()
    await assert.rejects(resolve(), { code: 'token.invalid' })
    await store.close()
    await mongod.stop()
  })

  it('are read from a primary that a majority confirms', async () => {
    const { token } = await owner.api.tokens.createToken({ name: 'mine' })
    const url = new URL(harness.config.MONGODB_URL)
    url.searchParams.set('monitorCommands', 'true')
    const logger = createLogger({ service: 'identity-test', level: 'silent' })
    const store = await connectStore({ url: url.href, dbName: harness.config.MONGODB_DATABASE, logger })
    const secrets = createSecretHashers(harness.config.TOKEN_KEY)
    const handlers = credentials({ store, secrets, collections: collections(store) })
    const reads: { find?: string; readConcern?: { level: string; afterClusterTime?: unknown } }[] = []
    store.connection.getClient().on('commandStarted', ({ command }) => command.find && reads.push(command))
    const [organizationId, secret] = String(token).split(':') as [string, string]
    const { sid, sub } = JSON.parse(Buffer.from(owner.credential.split('.')[1]!, 'base64url').toString())
    const call = { caller, logger } as unknown as Call
    await handlers.resolveToken({ organizationId, hashes: secrets.token.hashes(secret) }, call)
    await handlers.resolveSession({ organizationId, sessionId: sid, userId: sub }, call)
    assert.deepEqual(
      reads.map(({ find, readConcern }) => [find, readConcern?.level, readConcern?.afterClusterTime !== undefined]),
      [
        ['leases', 'linearizable', false],
        ['tokens', 'majority', true],
        ['users', 'majority', true],
        ['organizations', 'majority', true],
        ['leases', 'linearizable', false],
        ['sessions', 'majority', true],
        ['users', 'majority', true],
        ['organizations', 'majority', true],
      ],
    )
    await store.close()
  })

  describe('of a token', () => {
    it('without a role has its creator’s', async () => {
      const { token, id } = await owner.api.tokens.createToken({ name: 'mine' })
      const { expiresAt: _, ...resolved } = await resolveToken(token)
      assert.deepEqual(resolved, {
        kind: 'token',
        organizationId: owner.organizationId,
        userId: owner.userId,
        userName: 'Owner',
        tokenId: id,
        tokenName: 'mine',
        role: 'owner',
        permissions: ['*'],
        readOnly: false,
        allowedIps: [],
        allowedOrigins: [],
      })
    })

    it('without a role follows its creator’s, whatever that becomes', async () => {
      const { name } = await role({ tokens: ['create'], links: ['read'] }, 'user')
      const person = await harness.addPerson(owner.organizationId, String(name))
      const { token } = await person.api.tokens.createToken({ name: 'follower' })
      assert.deepEqual((await resolveToken(token)).permissions, ['links.read', 'tokens.create'])
      await role({ links: ['read', 'update'] }, 'user', String(name))
      assert.deepEqual((await resolveToken(token)).permissions, ['links.read', 'links.update'])
      await edit('users', person.userId, { role: 'user' })
      const { role: becomes, permissions } = await resolveToken(token)
      assert.equal(becomes, 'user')
      assert.ok(permissions.includes('audience.read') && !permissions.includes('tokens.read'))
    })

    it('with a custom role has exactly that, whatever its creator may do', async () => {
      const { name } = await role({ links: ['read'] })
      const { token } = await owner.api.tokens.createToken({ name: 'narrow', role: String(name) })
      const resolved = await resolveToken(token)
      assert.deepEqual([resolved.role, resolved.permissions], [name, ['links.read']])
    })

    it('with the role user has exactly that', async () => {
      const { token } = await owner.api.tokens.createToken({ name: 'reader', role: 'user' })
      const { permissions } = await resolveToken(token)
      assert.ok(permissions.includes('content.read'))
      assert.ok(permissions.every(pair => pair.endsWith('.read')))
    })

    it('with the role admin or owner acts as its creator does, and never above its role', async () => {
      const admin = await harness.addPerson(owner.organizationId, 'admin')
      const asOwner = await admin.api.tokens.createToken({ name: 'as owner', role: 'owner' })
      const asAdmin = await owner.api.tokens.createToken({ name: 'as admin', role: 'admin' })
      assert.equal((await resolveToken(asOwner.token)).role, 'admin')
      assert.equal((await resolveToken(asAdmin.token)).role, 'admin')
      assert.deepEqual((await resolveToken(asAdmin.token)).permissions, ['*'])
      await edit('users', admin.userId, { role: 'user' })
      const demoted = await resolveToken(asOwner.token)
      assert.equal(demoted.role, 'user')
      assert.ok(!demoted.permissions.includes('*'))
    })

    it('returns when it expires', async () => {
      const expiresAt = new Date(Date.now() + 60_000).toISOString()
      const { token } = await owner.api.tokens.createToken({ name: 'brief', expiresAt })
      assert.equal((await resolveToken(token)).expiresAt, expiresAt)
    })

    for (const [what, change] of [
      ['is inactive', { active: false }],
      ['is archived', { archived: true }],
      ['has expired', { expiresAt: new Date(Date.now() - 1) }],
    ] as const) {
      it(`is refused when it ${what}`, async () => {
        const { token, id } = await owner.api.tokens.createToken({ name: what })
        await edit('tokens', id, change)
        await assert.rejects(resolveToken(token), unknownToken)
      })
    }

    it('is refused when it is unknown: here, in another organization, in one that does not exist', async () => {
      const { token } = await owner.api.tokens.createToken({ name: 'elsewhere' })
      const stranger = await harness.register()
      await assert.rejects(resolveToken(`${owner.organizationId}:unknown`), unknownToken)
      await assert.rejects(resolveToken(token, stranger.organizationId), unknownToken)
      await assert.rejects(resolveToken(token, 'f'.repeat(24)), unknownToken)
    })

    it('is refused when its creator is gone, or blocked', async () => {
      const person = await harness.addPerson(owner.organizationId, 'admin')
      const { token } = await person.api.tokens.createToken({ name: 'orphan' })
      await edit('users', person.userId, { blocked: true })
      await assert.rejects(resolveToken(token), blocked)
      await remove('users', person.userId)
      await assert.rejects(resolveToken(token), { status: 401, message: 'Token creator user not found.' })
    })

    it('is refused when its role is gone, also when another one takes the name', async () => {
      const { name, id } = await role({ links: ['read'] })
      const { token } = await owner.api.tokens.createToken({ name: 'roleless', role: String(name) })
      await owner.api.roles.deleteRole({ id: String(id) })
      await assert.rejects(resolveToken(token), { status: 401, message: 'Token role not found.' })
      await role({ links: ['read'] }, 'api', String(name))
      await assert.rejects(resolveToken(token), { status: 401, message: 'Token role not found.' })
    })
  })

  describe('of a session', () => {
    it('has the role its person has by now', async () => {
      const person = await harness.addPerson(owner.organizationId, 'admin')
      const { expiresAt, ...resolved } = await resolveSession(person)
      assert.ok(Date.parse(expiresAt!) > Date.now())
      assert.deepEqual(resolved, {
        kind: 'session',
        organizationId: owner.organizationId,
        userId: person.userId,
        userName: 'Owner',
        sessionId: (await person.api.caller()).sessionId,
        role: 'admin',
        permissions: ['*'],
        readOnly: false,
        allowedIps: [],
        allowedOrigins: [],
        secondFactorMissing: false,
      })
      await edit('users', person.userId, { role: 'user' })
      assert.equal((await resolveSession(person)).role, 'user')
    })

    it('has exactly what a custom role grants', async () => {
      const { name } = await role({ users: ['read'], links: ['delete'] }, 'user')
      const person = await harness.addPerson(owner.organizationId, String(name))
      assert.deepEqual((await resolveSession(person)).permissions, ['links.delete', 'users.read'])
    })

    it('is read-only where somebody acts as the person', async () => {
      const person = await harness.addPerson(owner.organizationId, 'user')
      const { sessionId } = await person.api.caller()
      await edit('sessions', sessionId, { impersonatedBy: new Types.ObjectId(owner.userId) })
      const { readOnly, impersonatorId } = await resolveSession(person)
      assert.deepEqual([readOnly, impersonatorId], [true, owner.userId])
    })

    it('is refused when it has ended, or expired', async () => {
      const person = await harness.addPerson(owner.organizationId, 'user')
      const { sessionId } = await person.api.caller()
      await edit('sessions', sessionId, { expiresAt: new Date(Date.now() - 1) })
      await assert.rejects(resolveSession(person), badSession)
      await remove('sessions', sessionId)
      await assert.rejects(resolveSession(person), badSession)
    })

    it('of a blocked account is refused as such, ended or not, and as ended once it is unblocked', async () => {
      const person = await harness.addPerson(owner.organizationId, 'user')
      const { sessionId } = await person.api.caller()
      await edit('users', person.userId, { blocked: true })
      await assert.rejects(resolveSession(person), blocked)
      await remove('sessions', sessionId)
      await assert.rejects(resolveSession(person), blocked)
      await edit('users', person.userId, { blocked: false })
      await assert.rejects(resolveSession(person), badSession)
    })

    it('is refused when its account or its role is gone', async () => {
      const { name, id } = await role({ users: ['read'] }, 'user')
      const person = await harness.addPerson(owner.organizationId, String(name))
      await remove('roles', id)
      await assert.rejects(resolveSession(person), badSession)
      await remove('users', person.userId)
      await assert.rejects(resolveSession(person), badSession)
    })

    it('is refused for another person, and in another organization', async () => {
      const stranger = await harness.register()
      await assert.rejects(resolveSession(stranger, { userId: owner.userId }), badSession)
      await assert.rejects(resolveSession(stranger, { organizationId: owner.organizationId }), badSession)
      await assert.rejects(resolveSession(owner, { sessionId: 'f'.repeat(24) }), badSession)
    })
  })
})
