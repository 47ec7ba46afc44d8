import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { pause } from '@rollcall/runtime'
import { type Link, linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import {
  bootGateway,
  issueSession,
  issueToken,
  organizationId,
  StubbedServices,
  type TestGateway,
  tenantSettings,
} from '../test/gateway.ts'

const DEADLINE_MS = 1_500
const CONTROL_PLANE = `/api/workspaces/${'c0ffee'.repeat(4)}/members`
const ELSEWHERE = `/api/audience/${'c0ffee'.repeat(4)}`

describe('API tokens on the control plane', () => {
  const tenant = new StubbedServices()
  let link: Link
  let gateway: TestGateway
  let token: string
  let session: string

  before(async () => {
    link = await linkTo(`127.0.0.1:${await tenant.start(0, 'tenant')}`)
    gateway = await bootGateway({
      ...tenantSettings,
      TENANT_SERVERS: `${organizationId}=${link.url}`,
      RPC_DEADLINE_MS: String(DEADLINE_MS),
    })
    token = issueToken(tenant)
    session = issueSession(gateway.services)
  })
  after(async () => {
    await gateway.stop()
    await link.stop()
    await tenant.server?.stop()
  })
  beforeEach(() => {
    link.become('open')
    tenant.calls.length = 0
    gateway.services.calls.length = 0
  })

  const get = async (path: string, credential: string) => {
    const startedAt = performance.now()
    const response = await fetch(`${gateway.url}${path}`, { headers: { Authorization: credential } })
    return { status: response.status, text: await response.text(), ms: performance.now() - startedAt }
  }

  it('are resolved at the tenant server of their organization, each time', async () => {
    for (let time = 1; time <= 3; time++) {
      assert.equal((await get(CONTROL_PLANE, token)).status, 200)
      assert.equal(tenant.count('resolveToken'), time)
    }
    assert.equal(gateway.services.count('resolveToken'), 0)
    assert.equal(gateway.services.count('listWorkspaceMembers'), 3)
  })

  it('are resolved at identity everywhere else, where a token of the tenant is unknown', async () => {
    assert.equal((await get(ELSEWHERE, token)).status, 401)
    assert.equal(tenant.calls.length, 0)
  })

  it('that the tenant server refuses are refused, whatever identity knows', async () => {
    const known = issueToken(gateway.services)
    assert.equal((await get(ELSEWHERE, known)).status, 200)
    assert.equal((await get(CONTROL_PLANE, known)).status, 401)
  })

  it('leave sessions to identity', async () => {
    assert.equal((await get(CONTROL_PLANE, session)).status, 200)
    assert.equal(tenant.calls.length, 0)
  })

  for (const mode of ['cut', 'silent'] as const) {
    it(`get 503 in time where the tenant server is ${mode}, while sessions and other routes keep working`, async () => {
      assert.equal((await get(CONTROL_PLANE, token)).status, 200)
      link.become(mode)
      const known = issueToken(gateway.services)
      const refusals = await Promise.all([get(CONTROL_PLANE, token), get(CONTROL_PLANE, token)])
      for (const { status, text, ms } of refusals) {
        assert.deepEqual([status, text], [503, '{"error":true,"message":"service unavailable"}'])
        assert.ok(ms < scaledTimeout(DEADLINE_MS + 1_000), `answered after ${ms} ms`)
      }
      assert.equal((await get(CONTROL_PLANE, session)).status, 200)
      assert.equal((await get(ELSEWHERE, known)).status, 200)

      link.become('open')
      for (let waitedMs = 0; (await get(CONTROL_PLANE, token)).status !== 200; waitedMs += 50) {
        assert.ok(waitedMs < scaledTimeout(10_000), 'the tenant server is reached again')
        await pause(50)
      }
    })
  }
})

describe('API tokens of an organization without a tenant server of its own', () => {
  it('are resolved at identity, each time', async test => {
    const gateway = await bootGateway({ ...tenantSettings, TENANT_SERVERS: `{"${'decade'.repeat(4)}":"127.0.0.1:1"}` })
    test.after(gateway.stop)
    const headers = { Authorization: issueToken(gateway.services) }
    for (let time = 1; time <= 2; time++) {
      assert.equal((await fetch(`${gateway.url}${CONTROL_PLANE}`, { headers })).status, 200)
      assert.equal(gateway.services.count('resolveToken'), time)
    }
  })
})
