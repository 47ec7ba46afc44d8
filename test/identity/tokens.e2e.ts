import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@rollcall/testing/eventually'
import { type Answer, type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, manyAddresses, unknownId } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'
import { addPerson, type Refusal, type Role, saveRole, unique } from './people.ts'

type Token = Record<string, unknown> & { id: string; status: string; allowedIps: string[] }
type Page<T> = { docs: T[]; totalDocs: number }

const reportMs = 200
const unauthorized = (answer: Answer, reason: string) => {
  assert.deepEqual([answer.status, answer.text], [401, 'Unauthorized'])
  assert.match(answer.headers.get('www-authenticate') ?? '', new RegExp(`error_description="${reason}"$`))
}
const unknownToken = 'Invalid or inactive API token.'

describe('API tokens', () => {
  let stack: TestStack
  let owner: Api
  before(async () => {
    stack = await startStack({ gateways: 2, settings: { ...manyAddresses, TOKEN_USAGE_REPORT_MS: String(reportMs) } })
    owner = fromElsewhere(stack.owner)
  })
  after(() => stack?.stop())

  const create = (body: object, api = owner) => fromElsewhere(api).post<Token & Refusal>('/api/tokens', body)
  const tokenOf = (id: string) => bodyOf(fromElsewhere(owner).get<Token>(`/api/tokens/${id}`))
  const patch = (id: string, body: object) => bodyOf(fromElsewhere(owner).patch(`/api/tokens/${id}`, body))

  describe('201: create', () => {
    it('answers the record and, in this response alone, the full secret', async () => {
      const body = { name: 'CI', description: 'of the build', expiresAt: '2099-01-01T00:00:00.000Z', role: 'user' }
      const { token, ...record } = await bodyOf(create(body), 201)
      assert.match(String(token), /^[0-9a-f]{24}:[A-Za-z0-9]{60}$/)
      assert.deepEqual({ ...record, ...body }, record)
      assert.deepEqual(await tokenOf(record.id), record)
      const { docs } = await bodyOf(fromElsewhere(owner).get<Page<Token>>('/api/tokens'))
      const listed = docs.find(({ id }) => id === record.id)!
      assert.match(String(listed.tokenPreview), /^[0-9a-f]{24}:\w{4}\*{8}\w{4}$/)
      assert.equal(JSON.stringify(docs).includes(String(token).slice(25)), false)
    })

    it('rule 6: without a role it authorizes as its creator’s role (an admin’s token is an admin credential)', async () => {
      const admin = await addPerson(stack, 'admin')
      const { api } = await makeToken(admin.api)
      const me = await bodyOf(
        fromElsewhere(api).get<{ kind: string; role: string; permissions: string[] }>('/api/auth/me'),
      )
      assert.deepEqual([me.kind, me.role, me.permissions], ['token', 'admin', ['*']])
      assert.equal((await fromElsewhere(api).get('/api/users')).status, 200)
    })

    it('by a token with a custom role gets that role by default', async () => {
      const { name } = await saveRole(owner, { tokens: ['create', 'read'] })
      const parent = await makeToken(owner, { role: name })
      const child = await makeToken(parent.api)
      assert.equal((await tokenOf(child.id)).role, name)
      assert.equal((await fromElsewhere(child.api).get('/api/tokens')).status, 200)
      assert.equal((await fromElsewhere(child.api).get('/api/users')).status, 403)
    })

    it('a token answers by header with and without Bearer, and by both cookies', async () => {
      const { token } = await makeToken(owner)
      const api = fromElsewhere(stack.api)
      const carriers = [
        { authorization: token },
        { authorization: `Bearer ${token}` },
        { cookie: `auth_token=${token}` },
        { cookie: `authorization=Bearer ${token}` },
      ]
      for (const headers of carriers) assert.equal((await api.with(headers as never).get('/api/tokens')).status, 200)
    })
  })

  describe('200: read, update, delete, usage, addresses', () => {
    it('PATCH changes name, description, active and archived, and answers success', async () => {
      const { id } = await makeToken(owner)
      const changes = { name: 'renamed', description: 'now', active: false, archived: true }
      assert.deepEqual(await patch(id, changes), { success: true, message: 'updated' })
      const { status, ...record } = await tokenOf(id)
      assert.deepEqual({ ...record, ...changes }, record)
      assert.equal(status, 'archived')
    })

    it('DELETE answers the token without its secret; the second time it is unknown', async () => {
      const { id } = await makeToken(owner)
      const record = await tokenOf(id)
      assert.deepEqual(await bodyOf(fromElsewhere(owner).delete(`/api/tokens/${id}`)), record)
      await bodyOf(fromElsewhere(owner).delete(`/api/tokens/${id}`), 404)
    })

    it('lastUsedAt, lastUsedIp and usage say what the token really used, over two gateways', async () => {
      const { id, api } = await makeToken(owner)
      assert.deepEqual([(await tokenOf(id)).lastUsedAt, (await tokenOf(id)).lastUsedIp], [null, null])
      const before = Date.now()
      const from = api.with({ 'x-forwarded-for': '203.0.113.77' })
      for (const url of stack.urls) {
        for (let round = 0; round < 2; round++) await bodyOf(from.at(url).get('/api/users'))
        await bodyOf(from.at(url).get('/api/auth/me'))
      }
      const used = await until(async () => {
        const { docs } = await bodyOf(fromElsewhere(owner).get<Page<Token>>(`/api/tokens/${id}/usage`))
        return docs[0]?.count === 4 ? docs : undefined
      })
      assert.equal(used.length, 1)
      assert.deepEqual([used[0]!.resource, used[0]!.action], ['users', 'read'])
      const { lastUsedAt, lastUsedIp } = await tokenOf(id)
      assert.equal(lastUsedIp, '203.0.113.77')
      assert.ok(Date.parse(String(lastUsedAt)) >= before)
    })

    it('PUT allowed-ips binds the token to addresses at once, at every gateway; [] frees it', async () => {
      const { id, api } = await makeToken(owner)
      const statusFrom = async (ip: string) =>
        Promise.all(
          stack.urls.map(async url => (await api.with({ 'x-forwarded-for': ip }).at(url).get('/api/tokens')).status),
        )
      const bind = (cidrs: string[]) => bodyOf(fromElsewhere(owner).put(`/api/tokens/${id}/allowed-ips`, { cidrs }))
      assert.deepEqual(await statusFrom('203.0.113.9'), [200, 200])
      assert.deepEqual(await bind(['192.0.2.0/24', '2001:db8::1']), { success: true, message: 'updated' })
      assert.deepEqual((await tokenOf(id)).allowedIps, ['192.0.2.0/24', '2001:db8::1'])
      assert.deepEqual(await statusFrom('203.0.113.9'), [403, 403])
      assert.deepEqual(await statusFrom('192.0.2.200'), [200, 200])
      assert.deepEqual(await statusFrom('2001:db8::1'), [200, 200])
      await bind([])
      assert.deepEqual(await statusFrom('203.0.113.9'), [200, 200])
    })
  })

  describe('400', () => {
    it('rule 1: a field outside the four is rejected', async () => {
      for (const field of ['active', 'archived', 'allowedIps', 'token', 'createdBy', 'nonsense']) {
        const { message, path } = await bodyOf(create({ name: 'x', [field]: true }), 400)
        assert.deepEqual([message, path], [`extra field -> ${field}`, field])
      }
    })

    it('name is required', async () => {
      const body = await bodyOf(create({}), 400)
      assert.deepEqual(body, { error: true, message: 'missing field -> name', path: 'name' })
    })

    it('rule 2: expiresAt must be a valid future date.', async () => {
      for (const expiresAt of ['yesterday', '2020-01-01', 12_345, true, {}, [], '']) {
        const { message } = await bodyOf(create({ name: 'x', expiresAt }), 400)
        assert.equal(message, 'expiresAt must be a valid future date.')
      }
    })

    it('rules 3 and 4: Unknown API role: for one that does not exist, or is for members', async () => {
      const { name } = await saveRole(owner, { links: ['read'] }, { kind: 'user' })
      for (const role of ['nobody', name, 'Owner']) {
        const body = await bodyOf(create({ name: 'x', role }), 400)
        assert.deepEqual(body, { error: true, message: `Unknown API role: ${role}`, path: 'role' })
      }
    })

    it('the role cannot be changed, and an update needs a field', async () => {
      const { id } = await makeToken(owner)
      const role = await bodyOf(fromElsewhere(owner).patch<Refusal>(`/api/tokens/${id}`, { role: 'admin' }), 400)
      assert.equal(role.message, 'extra field -> role')
      await bodyOf(fromElsewhere(owner).patch(`/api/tokens/${id}`, {}), 400)
    })

    it('allowed-ips names the invalid block: cidrs.N', async () => {
      const { id } = await makeToken(owner)
      const put = (body: object) =>
        bodyOf(fromElsewhere(owner).put<Refusal>(`/api/tokens/${id}/allowed-ips`, body), 400)
      const bad = await put({ cidrs: ['192.0.2.1', '192.0.2.0/33'] })
      assert.deepEqual([bad.path, bad.message.startsWith('invalid field -> cidrs.1')], ['cidrs.1', true])
      assert.equal((await put({})).message, 'missing field -> cidrs')
      assert.equal((await put({ cidrs: Array(101).fill('192.0.2.1') })).path, 'cidrs')
    })
  })

  describe('401', () => {
    const refusals: [what: string, credential: string, reason: string][] = [
      ['no colon', 'nonsense', 'Invalid token format. Expected orgId:secret.'],
      ['an orgId that is no ObjectId', `nonsense:${'a'.repeat(60)}`, 'Invalid token format.'],
      ['an unknown organization', `${unknownId}:${'a'.repeat(60)}`, unknownToken],
    ]
    for (const [what, credential, reason] of refusals) {
      it(`${what}: ${reason}`, async () =>
        unauthorized(await fromElsewhere(stack.api.as(credential)).get('/api/tokens'), reason))
    }

    it('splits on the first colon only', async () => {
      const { token } = await makeToken(owner)
      unauthorized(await fromElsewhere(stack.api.as(`${token}:more`)).get('/api/tokens'), unknownToken)
    })
  })

  describe('403', () => {
    it('rule 5: a role that exceeds the creator’s permissions is refused, naming them sorted', async () => {
      const creator = await addPerson(
        stack,
        (await saveRole(owner, { tokens: ['create'], links: ['read'] }, { kind: 'user' })).name,
      )
      const { name: role } = await saveRole(owner, { users: ['update'], links: ['delete', 'read'] })
      const { message } = await bodyOf(create({ name: 'x', role }, creator.api), 403)
      assert.equal(message, 'Role exceeds your permissions: links.delete, users.update')
      await bodyOf(create({ name: 'x', role: 'admin' }, creator.api), 403)
    })

    it('rule 9: the role governs permissions, however much its creator may do', async () => {
      const { name: role } = await saveRole(owner, { links: ['read'] })
      const { api } = await makeToken(owner, { role })
      const { message } = await bodyOf(fromElsewhere(api).get<Refusal>('/api/tokens'), 403)
      assert.equal(message, 'Permission denied: tokens.read')
      const me = await bodyOf(
        fromElsewhere(api).get<{ user: { email: string }; permissions: string[] }>('/api/auth/me'),
      )
      assert.deepEqual(me.permissions, ['links.read'])
    })

    it('the action follows the method: creating needs create, whatever else is granted', async () => {
      const { name: role } = await saveRole(owner, { tokens: ['read', 'update', 'delete'] })
      const { api } = await makeToken(owner, { role })
      assert.equal((await bodyOf(create({ name: 'x' }, api), 403)).message, 'Permission denied: tokens.create')
    })
  })

  describe('404', () => {
    it('an unknown token, on every route of one', async () => {
      const path = `/api/tokens/${unknownId}`
      const api = fromElsewhere(owner)
      const asked = [
        api.get(path),
        api.patch(path, { active: false }),
        api.delete(path),
        api.get(`${path}/usage`),
        api.put(`${path}/allowed-ips`, { cidrs: [] }),
      ]
      for (const answer of asked)
        assert.deepEqual(await bodyOf(answer, 404), { error: true, message: 'token not found' })
    })
  })

  describe('at once, at every gateway and on a warm cache', () => {
    /** Creates a token that both gateways have cached, with its creator, and its role if it has one. */
    const warm = async (permissions?: object) => {
      const creator = await addPerson(stack, 'admin')
      const role: Role | undefined = permissions && (await saveRole(owner, permissions))
      const token = await makeToken(creator.api, role && { role: role.name })
      const ask = () => Promise.all(stack.urls.map(url => fromElsewhere(token.api).at(url).get('/api/users')))
      for (const answer of [...(await ask()), ...(await ask())]) assert.equal(answer.status, 200)
      return { ...token, creator, role, ask }
    }
    const refused = async (ask: () => Promise<Answer[]>, reason: string) => {
      for (const answer of await ask()) unauthorized(answer, reason)
    }

    it('deactivating refuses it, activating lets it in again', async () => {
      const { id, ask } = await warm()
      await patch(id, { active: false })
      await refused(ask, unknownToken)
      await patch(id, { active: true })
      for (const { status } of await ask()) assert.equal(status, 200)
    })

    it('archiving refuses it', async () => {
      const { id, ask } = await warm()
      await patch(id, { archived: true })
      await refused(ask, unknownToken)
      assert.equal((await tokenOf(id)).status, 'archived')
    })

    it('deleting refuses it', async () => {
      const { id, ask } = await warm()
      await bodyOf(fromElsewhere(owner).delete(`/api/tokens/${id}`))
      await refused(ask, unknownToken)
    })

    it('its expiry refuses it, also on the cached path', async () => {
      const expiresAt = Date.now() + 5000
      const { id, api } = await makeToken(owner, { expiresAt: new Date(expiresAt).toISOString() })
      for (const url of stack.urls) assert.equal((await fromElsewhere(api).at(url).get('/api/tokens')).status, 200)
      await sleep(expiresAt - Date.now() + 20)
      for (const url of stack.urls) unauthorized(await fromElsewhere(api).at(url).get('/api/tokens'), unknownToken)
      assert.equal((await tokenOf(id)).status, 'expired')
    })

    it('rule 7: editing its role changes what it may do', async () => {
      const { role, ask } = await warm({ users: ['read'] })
      await saveRole(owner, { links: ['read'] }, { name: role!.name })
      for (const { status } of await ask()) assert.equal(status, 403)
    })

    it('rule 7: deleting its role revokes it', async () => {
      const { id, role, ask } = await warm({ users: ['read'] })
      await bodyOf(fromElsewhere(owner).delete(`/api/access-control/roles/${role!.id}`))
      await refused(ask, 'Token role not found.')
      assert.equal((await tokenOf(id)).status, 'role-missing')
    })

    it('rule 6: the creator’s change-role changes it', async () => {
      const { creator, ask } = await warm()
      await bodyOf(fromElsewhere(owner).patch(`/api/users/${creator.id}/change-role`, { role: 'user' }))
      for (const { status } of await ask()) assert.equal(status, 403)
    })

    it('blocking the creator refuses it with 403, unblocking lets it in again', async () => {
      const { creator, ask } = await warm()
      await bodyOf(fromElsewhere(owner).patch(`/api/users/${creator.id}/block`))
      for (const { status, body } of await ask())
        assert.deepEqual([status, body], [403, { error: true, message: 'Account is blocked.' }])
      await bodyOf(fromElsewhere(owner).patch(`/api/users/${creator.id}/unblock`))
      for (const { status } of await ask()) assert.equal(status, 200)
    })

    it('deleting the creator refuses it: Token creator user not found.', async () => {
      const { id, creator, ask } = await warm()
      await bodyOf(fromElsewhere(owner).delete(`/api/users/${creator.id}`))
      await refused(ask, 'Token creator user not found.')
      assert.equal((await tokenOf(id)).status, 'creator-missing')
    })

    it('rule 8: a new token on another role, and the old one deactivated', async () => {
      const { id, ask } = await warm({ users: ['read'] })
      const { name: role } = await saveRole(owner, { tokens: ['read'] })
      const other = await makeToken(owner, { role })
      await patch(id, { active: false })
      await refused(ask, unknownToken)
      assert.equal((await fromElsewhere(other.api).get('/api/tokens')).status, 200)
    })
  })

  it('rule 10: a lost secret is replaced by deleting the token and creating another', async () => {
    const name = unique('token')
    const lost = await bodyOf(create({ name }), 201)
    assert.equal((await tokenOf(lost.id)).token, undefined)
    await bodyOf(fromElsewhere(owner).delete(`/api/tokens/${lost.id}`))
    const other = await bodyOf(create({ name }), 201)
    assert.notEqual(other.token, lost.token)
    assert.equal((await fromElsewhere(stack.api.as(String(other.token))).get('/api/tokens')).status, 200)
  })
})

const until = <T>(look: () => Promise<T | undefined>) =>
  eventually<T>('the use of the token is known', look, { everyMs: reportMs / 4 })
