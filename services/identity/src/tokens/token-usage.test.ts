import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type CallContext, serviceCaller } from '@rollcall/rpc'
import { type Harness, type Json, type Person, startHarness, unique } from '../../test/identity.ts'

describe('the usage of tokens', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness?.stop())

  const create = () => owner.api.tokens.createToken({ name: unique('token') })
  const reporter: CallContext = { caller: serviceCaller('gateway') }
  const report = (
    tokenId: unknown,
    { at = Date.now(), ip = '203.0.113.1', ...uses }: Record<string, number | string> & { at?: number; ip?: string },
    organizationId = owner.organizationId,
  ) =>
    harness.client('rollcall.identity.v1.TokenUsage').recordUsage(
      {
        tokens: [
          {
            organizationId,
            tokenId: String(tokenId),
            lastUsedAt: at,
            lastUsedIp: ip,
            uses: Object.entries(uses).map(([pair, count]) => {
              const [resource = '', action = ''] = pair.split('.')
              return { resource, action, count: Number(count), lastAt: at }
            }),
          },
        ],
        refused: [],
      },
      reporter,
    )
  const usage = async (id: unknown, query: object = {}) =>
    ((await owner.api.tokens.listTokenUsage({ id: String(id), list: query })).docs as unknown as Json[]).map(
      ({ resource, action, count }) => [`${resource}.${action}`, count],
    )

  it('adds up over reports, of several replicas at once', async () => {
    const { id } = await create()
    const reports = Array.from({ length: 6 }, () => report(id, { 'audience.read': 2, 'links.create': 1 }))
    await Promise.all(reports)
    assert.deepEqual((await usage(id)).sort(), [
      ['audience.read', 12],
      ['links.create', 6],
    ])
  })

  it('shows with the token: when and from where it was used last, whichever report comes last', async () => {
    const created = await create()
    const at = Date.now() - 1000
    await report(created.id, { at, ip: '203.0.113.9', 'links.read': 1 })
    await report(created.id, { at: at - 5000, ip: '203.0.113.1', 'links.read': 1 })
    const { lastUsedAt, lastUsedIp, updatedAt } = await owner.api.tokens.getToken({ id: String(created.id) })
    assert.deepEqual([lastUsedAt, lastUsedIp], [new Date(at).toISOString(), '203.0.113.9'])
    assert.equal(updatedAt, created.updatedAt, 'being used is no update')
  })

  it('is a page with the shared list parameters, the latest use first', async () => {
    const { id } = await create()
    await report(id, { at: 1000, 'audience.read': 5 })
    await report(id, { at: 3000, 'links.read': 1 })
    await report(id, { at: 2000, 'users.update': 9 })
    assert.deepEqual(await usage(id), [
      ['links.read', 1],
      ['users.update', 9],
      ['audience.read', 5],
    ])
    assert.deepEqual(await usage(id, { filter: '{"action":"read"}', sort: '{"count":-1}', limit: 1 }), [
      ['audience.read', 5],
    ])
    const page = await owner.api.tokens.listTokenUsage({ id: String(id), list: { projection: '{"count":1}' } })
    assert.deepEqual(Object.keys((page.docs as unknown as Json[])[0]!), ['_id', 'id', 'count'])
  })

  it('goes with the token', async () => {
    const { id } = await create()
    await report(id, { 'links.read': 1 })
    await owner.api.tokens.deleteToken({ id: String(id) })
    await report(id, { 'links.read': 1 })
    await assert.rejects(usage(id), { status: 404, message: 'token not found' })
    assert.equal(await harness.db.collection('token_uses').countDocuments({ token: id }), 0)
  })

  it('is reported within the organization of the token, by services alone', async () => {
    const { id } = await create()
    const stranger = await harness.register()
    await report(id, { 'links.read': 1 }, stranger.organizationId)
    assert.deepEqual(await usage(id), [])
    await assert.rejects(stranger.api.tokens.listTokenUsage({ id: String(id) }), { status: 404 })
    const caller = await owner.api.caller()
    const usageClient = harness.client('rollcall.identity.v1.TokenUsage')
    await assert.rejects(usageClient.recordUsage({ tokens: [], refused: [] }, { caller }), { status: 403 })
  })
})

describe('the allowed addresses of a token', () => {
  let harness: Harness
  let owner: Person
  before(async () => {
    harness = await startHarness()
    owner = await harness.register()
  })
  after(() => harness?.stop())

  it('are part of its record, and of what it resolves to at once', async () => {
    const created = await owner.api.tokens.createToken({ name: 'bound' })
    const id = String(created.id)
    assert.deepEqual(created.allowedIps, [])
    const cidrs = ['192.0.2.0/24', '2001:DB8::/32', '192.0.2.0/24']
    const answer = await owner.api.tokens.setAllowedIps({ id, cidrs })
    assert.deepEqual(answer, { success: true, message: 'updated' })
    assert.deepEqual((await owner.api.tokens.getToken({ id })).allowedIps, ['192.0.2.0/24', '2001:db8::/32'])
    await owner.api.tokens.setAllowedIps({ id, cidrs: [] })
    assert.deepEqual((await owner.api.tokens.getToken({ id })).allowedIps, [])
  })

  it('are published as a change of the token', async () => {
    const { id } = await owner.api.tokens.createToken({ name: 'bound' })
    for (const cidrs of [['192.0.2.1'], ['192.0.2.1'], []])
      await owner.api.tokens.setAllowedIps({ id: String(id), cidrs })
    const events = await harness.db
      .collection('outbox')
      .find({ 'event.type': 'token.updated', 'event.subject': String(id) })
      .sort({ at: 1, _id: 1 })
      .toArray()
    assert.deepEqual(
      events.map(({ event }) => event.data.changed),
      [['allowedIps'], [], ['allowedIps']],
    )
  })

  it('publish a use from another address, at most once a minute for each token', async () => {
    const { id } = await owner.api.tokens.createToken({ name: 'bound' })
    const at = Date.now()
    const refuse = (secondsLater: number, ip: string, organizationId = owner.organizationId) => {
      const refusal = { organizationId, tokenId: String(id), refusedAt: at + secondsLater * 1000, ip, requestId: ip }
      return harness
        .client('rollcall.identity.v1.TokenUsage')
        .recordUsage({ tokens: [], refused: [refusal] }, { caller: serviceCaller('gateway') })
    }
    const stranger = await harness.register()
    await refuse(0, '203.0.113.0', stranger.organizationId)
    for (const [secondsLater, ip] of [
      [0, '203.0.113.1'],
      [59, '203.0.113.2'],
      [60, '203.0.113.3'],
    ] as const)
      await refuse(secondsLater, ip)
    const events = await harness.db
      .collection('outbox')
      .find({ 'event.type': 'token.refused', 'event.subject': String(id) })
      .sort({ at: 1, _id: 1 })
      .toArray()
    assert.deepEqual(
      events.map(({ event: { data, origin, time } }) => [data.reason, origin.ip, origin.requestId, Date.parse(time)]),
      [
        ['token.address_refused', '203.0.113.1', '203.0.113.1', at],
        ['token.address_refused', '203.0.113.3', '203.0.113.3', at + 60_000],
      ],
    )
  })
})
