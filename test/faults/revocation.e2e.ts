import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { counted } from '../soak.ts'
import { startStack, type TestStack } from '../stack.ts'

/** How often each cause is tried. */
const rounds = counted(3, 30)

/** A revocation end to end: two gateways, warm caches, constant readers. The cache has a harness of its own. */
describe('a credential that was revoked', () => {
  let stack: TestStack
  before(async () => {
    stack = await startStack({ gateways: 2, settings: { TRUST_PROXY: '1' } })
  })
  after(() => stack.stop())

  let address = 0
  const from = (api: Api) => api.with({ 'x-forwarded-for': `203.0.${address >> 8}.${address++ & 255}` })
  const everywhere = (api: Api) =>
    Promise.all(stack.urls.map(async url => (await from(api).at(url).get('/api/audience')).status))

  /** Sends requests to both gateways all the time, so that cache fills coincide with the change. */
  function keepReading(api: Api): () => Promise<void> {
    let over = false
    const readers = stack.urls.map(async url => {
      const reader = from(api).at(url)
      while (!over) await reader.get('/api/audience')
    })
    return async () => {
      over = true
      await Promise.all(readers)
    }
  }

  const causes: [cause: string, revoke: (owner: Api, id: string, role: string) => Promise<unknown>, status: number][] =
    [
      ['made inactive', (owner, id) => bodyOf(owner.patch(`/api/tokens/${id}`, { active: false })), 401],
      ['archived', (owner, id) => bodyOf(owner.patch(`/api/tokens/${id}`, { archived: true })), 401],
      ['deleted', (owner, id) => bodyOf(owner.delete(`/api/tokens/${id}`)), 401],
      [
        'of a role that lost the permission',
        (owner, _, name) =>
          bodyOf(owner.post('/api/access-control/save-role', { name, kind: 'api', permissions: { links: ['read'] } })),
        403,
      ],
      [
        'of a role that was deleted',
        async (owner, _, name) => {
          const { docs } = await bodyOf(
            owner.get<{ docs: { id: string }[] }>('/api/access-control/roles', { filter: { name } }),
          )
          await bodyOf(owner.delete(`/api/access-control/roles/${docs[0]!.id}`))
        },
        401,
      ],
    ]
  for (const [cause, revoke, status] of causes) {
    it(`by being ${cause} is refused on the very next request, at every gateway`, async () => {
      for (let round = 0; round < rounds; round++) {
        const role = `${cause} ${round}`
        const owner = from(stack.owner)
        await bodyOf(
          owner.post('/api/access-control/save-role', { name: role, kind: 'api', permissions: { audience: ['read'] } }),
        )
        const token = await makeToken(owner, { role })
        assert.deepEqual(await everywhere(token.api), [200, 200])
        const stopReading = keepReading(token.api)
        await sleep(Math.random() * 40)
        await revoke(owner, token.id, role)
        assert.deepEqual(await everywhere(token.api), [status, status])
        await stopReading()
        assert.deepEqual(await everywhere(token.api), [status, status])
      }
    })
  }

  it('by the passing of its time is refused then, also on the cached path', async () => {
    const expiresAt = new Date(Date.now() + scaledTimeout(2000))
    const token = await makeToken(from(stack.owner), { expiresAt: expiresAt.toISOString() })
    assert.deepEqual(await everywhere(token.api), [200, 200])
    const stopReading = keepReading(token.api)
    await sleep(expiresAt.getTime() - Date.now() + 5)
    assert.deepEqual(await everywhere(token.api), [401, 401])
    await stopReading()
  })

  it('by signing out is refused at every gateway', async () => {
    const owner = from(stack.owner)
    const { token } = await bodyOf(
      owner.post<{ token: string }>('/api/auth/login', {
        email: 'owner@rollcall.test',
        password: 'made for tests only',
      }),
    )
    const session = from(stack.api).as(token)
    assert.deepEqual(await everywhere(session), [200, 200])
    await bodyOf(session.post('/api/auth/logout'))
    assert.deepEqual(await everywhere(session), [401, 401])
  })
})
