import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Api, bodyOf } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { startStack, type TestStack } from '../stack.ts'

const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
const accessToken = 'urn:ietf:params:oauth:token-type:access_token'

let stack: TestStack
before(async () => {
  stack = await startStack({ settings: manyAddresses })
})
after(() => stack?.stop())

/** Returns a client with a JWT of this scope (token exchange). */
async function limitedTo(scope: string): Promise<Api> {
  const anyone = fromElsewhere(stack.api)
  type Client = { client_id: string; client_secret: string }
  const client = await bodyOf(anyone.post<Client>('/api/auth/clients', { client_name: 'Scope test' }), 201)
  const { client_id, client_secret } = client
  const exchange = {
    grant_type: grant,
    subject_token: stack.owner.headers.authorization,
    subject_token_type: accessToken,
    scope,
    client_id,
    client_secret,
  }
  const issued = await bodyOf(anyone.post<{ access_token: string }>('/api/auth/token', exchange))
  return stack.api.as(issued.access_token)
}

const denied = (message: string) => [403, { error: true, message }]

describe('finding 5: a credential limited to a scope', () => {
  const senders = '/api/emails/senders'
  let senderId: string
  before(async () => {
    const sender = { name: 'Sales', email: 'sales@example.com', delivery: 'oauth', oauth: { provider: 'google' } }
    senderId = (await bodyOf(stack.owner.post<{ id: string }>(senders, sender), 201)).id
  })

  const attempts: [action: string, method: string, path: string, body?: object][] = [
    ['read', 'GET', senders],
    ['read', 'GET', `${senders}/:id`],
    ['read', 'GET', `${senders}/:id/shared-users`],
    ['read', 'GET', `${senders}/oauth/google/start?sender=:id`],
    ['update', 'PATCH', `${senders}/:id`, { name: 'Somebody else' }],
    ['update', 'PATCH', `${senders}/:id/set-default`],
    ['update', 'PATCH', `${senders}/:id/share`, { userIds: ['0123456789abcdef01234567'] }],
    ['update', 'PATCH', `${senders}/:id/transfer`, { userId: '0123456789abcdef01234567' }],
    ['create', 'POST', `${senders}/:id/test`, { to: 'somebody@example.com' }],
    ['delete', 'DELETE', `${senders}/:id`],
  ]
  for (const [action, method, path, body] of attempts) {
    it(`needs email_senders.${action} in its scope for ${method} ${path}`, async () => {
      const api = await limitedTo('audience.read')
      const answer = await api.request(method, path.replace(':id', senderId), body ? { body } : {})
      assert.deepEqual([answer.status, answer.body], denied(`Permission denied: email_senders.${action}`))
    })
  }

  it('sees its senders with the scope, and leaves them as they are', async () => {
    const api = await limitedTo('email_senders.read')
    const { docs } = await bodyOf(api.get<{ docs: { id: string; name: string }[] }>(senders))
    assert.deepEqual(
      docs.map(({ id, name }) => [id, name]),
      [[senderId, 'Sales']],
    )
    const answer = await api.patch(`${senders}/${senderId}`, { name: 'Somebody else' })
    assert.deepEqual([answer.status, answer.body], denied('Permission denied: email_senders.update'))
  })

  it('needs workspaces.read in its scope for the list of workspaces', async () => {
    const answer = await (await limitedTo('audience.read')).get('/api/workspaces')
    assert.deepEqual([answer.status, answer.body], denied('Permission denied: workspaces.read'))
    await bodyOf((await limitedTo('workspaces.read')).get('/api/workspaces'))
  })

  it('cannot become a token that outlives it', async () => {
    const api = await limitedTo('tokens.create audience.read')
    const answer = await api.post('/api/tokens', { name: 'for ever' })
    assert.deepEqual([answer.status, answer.body], denied('A credential limited to a scope cannot create tokens.'))
  })

  it('cannot impersonate anyone, whatever its scope', async () => {
    const api = await limitedTo('users.read')
    const answer = await fromElsewhere(api).post('/api/auth/impersonate', { userId: '0123456789abcdef01234567' })
    assert.deepEqual([answer.status, answer.body], denied('A credential limited to a scope cannot do this.'))
  })

  it('may always ask who it is, and sign itself out', async () => {
    const api = fromElsewhere(await limitedTo('audience.read'))
    const { permissions } = await bodyOf(api.get<{ permissions: string[] }>('/api/auth/me'))
    assert.deepEqual(permissions, ['audience.read'])
    await bodyOf(api.post('/api/auth/logout'))
    assert.equal((await api.get('/api/auth/me')).status, 401)
  })
})
