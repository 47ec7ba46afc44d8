import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { AppError } from '@rollcall/contract'
import type { RecordUsageRequest } from '@rollcall/protos/gen/identity-v1.ts'
import { eventually } from '@rollcall/testing/eventually'
import { bootGateway, issueSession, issueToken, organizationId, type TestGateway } from '../test/gateway.ts'

const id = 'c0ffee'.repeat(4)
const tokenId = 'facade'.repeat(4)

describe('token usage', () => {
  let gateway: TestGateway
  beforeEach(async () => {
    gateway = await bootGateway({ TRUST_PROXY: '1', TOKEN_USAGE_REPORT_MS: '60000' })
    gateway.services.behaviours.set('recordUsage', () => ({}))
  })
  afterEach(() => gateway.stop())

  const use = async (credential: string, path: string, ip = '203.0.113.1') => {
    const response = await fetch(gateway.url + path, { headers: { Authorization: credential, 'X-Forwarded-For': ip } })
    await response.arrayBuffer()
    return response.status
  }
  const reports = () =>
    gateway.services.calls
      .filter(({ method }) => method === 'recordUsage')
      .flatMap(({ request }) => (request as RecordUsageRequest).tokens)

  it('is reported when the gateway stops, by permission, with the last time and address', async () => {
    const token = issueToken(gateway.services, { tokenId })
    const before = Date.now()
    for (const path of [`/api/audience/${id}`, '/api/audience', '/api/auth/me']) await use(token, path)
    await use(token, '/api/audience-lists-of-nobody')
    await use(token, '/api/tokens', '203.0.113.2')
    await gateway.lifecycle.stop('test')
    const [report, ...more] = reports()
    assert.equal(more.length, 0)
    const counts = report!.uses.map(({ resource, action, count }) => [`${resource}.${action}`, count])
    assert.deepEqual(counts, [
      ['audience.read', 2],
      ['tokens.read', 1],
    ])
    assert.deepEqual([report!.tokenId, report!.lastUsedIp], [tokenId, '203.0.113.2'])
    assert.ok(report!.lastUsedAt >= before && report!.lastUsedAt <= Date.now())
    assert.equal(report!.uses[1]!.lastAt, report!.lastUsedAt)
  })

  it('leaves out sessions, and what the guard or the allowed addresses refuse', async () => {
    await use(issueSession(gateway.services), '/api/audience')
    const weak = issueToken(gateway.services, { tokenId, permissions: ['links.read'], role: 'links' })
    assert.equal(await use(weak, '/api/audience'), 403)
    const elsewhere = issueToken(gateway.services, { tokenId, allowedIps: ['198.51.100.0/24'] })
    assert.equal(await use(elsewhere, '/api/audience'), 403)
    await gateway.lifecycle.stop('test')
    assert.deepEqual(reports(), [])
  })

  it('is reported for refused addresses: the first request of each token', async () => {
    const bound = { allowedIps: ['198.51.100.0/24'] }
    const token = issueToken(gateway.services, { tokenId, ...bound })
    const before = Date.now()
    for (const ip of ['203.0.113.1', '203.0.113.2']) assert.equal(await use(token, '/api/audience', ip), 403)
    const exchanged = issueSession(gateway.services, {}, { kind: 'token', tokenId: id, ...bound })
    assert.equal(await use(exchanged, '/api/audience', '203.0.113.3'), 403)
    await gateway.lifecycle.stop('test')
    const calls = gateway.services.calls.filter(({ method }) => method === 'recordUsage')
    const refused = calls.flatMap(({ request }) => (request as RecordUsageRequest).refused)
    assert.deepEqual(
      refused.map(({ tokenId, ip }) => [tokenId, ip]),
      [
        [tokenId, '203.0.113.1'],
        [id, '203.0.113.3'],
      ],
    )
    for (const { organizationId: organization, refusedAt, requestId } of refused) {
      assert.equal(organization, organizationId)
      assert.ok(refusedAt >= before && refusedAt <= Date.now())
      assert.ok(gateway.log.some(entry => entry.requestId === requestId))
    }
  })

  it('is dropped and logged if it cannot be reported, with no other effect', async () => {
    gateway.services.behaviours.set('recordUsage', () => {
      throw new AppError('service.unavailable', {})
    })
    assert.equal(await use(issueToken(gateway.services, { tokenId }), '/api/audience'), 200)
    assert.equal(await gateway.lifecycle.stop('test'), 'clean')
    assert.ok(gateway.log.some(({ msg, tokens }) => msg === 'token usage not recorded' && tokens === 1))
  })

  it('is reported at intervals, each time only what is new', async () => {
    const often = await bootGateway({ TOKEN_USAGE_REPORT_MS: '100' }, gateway.services)
    try {
      const token = issueToken(gateway.services, { tokenId })
      for (const expected of [1, 2]) {
        await (await fetch(`${often.url}/api/audience`, { headers: { Authorization: token } })).arrayBuffer()
        await eventually('the uses are reported', () => reports().length >= expected)
      }
      assert.deepEqual(
        reports().map(({ uses }) => uses[0]!.count),
        [1, 1],
      )
    } finally {
      await often.lifecycle.stop('test')
    }
  })
})
