import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@rollcall/testing/eventually'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { fromElsewhere, manyAddresses } from '../every-route.ts'
import { addPerson, password, unique } from '../identity/people.ts'
import { startStack, type TestStack } from '../stack.ts'

const ALLOWED = '192.0.2.7'
const FOREIGN = '203.0.113.7'

let stack: TestStack
before(async () => {
  stack = await startStack({ settings: { ...manyAddresses, TOKEN_USAGE_REPORT_MS: '200' } })
})
after(() => stack?.stop())

const owner = () => fromElsewhere(stack.owner)
const from = (ip: string, api: Api) => api.with({ 'x-forwarded-for': ip })

describe('a request whose last byte is held back', () => {
  it('is refused if its caller is blocked before that byte', async () => {
    const admin = await addPerson(stack, 'admin')
    const email = `${unique('late')}@example.com`
    const body = JSON.stringify({ name: 'Late', email, password })
    const headers = { ...admin.api.headers, 'content-type': 'application/json', 'content-length': body.length }
    const request = httpRequest(`${stack.urls[0]}/api/users`, { method: 'POST', headers })
    request.write(body.slice(0, -1))
    await sleep(300) // It passes the guard.
    await bodyOf(owner().patch(`/api/users/${admin.id}/block`, {}))
    request.end(body.slice(-1))
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.statusCode, 403)
    const { totalDocs } = await bodyOf(owner().get<{ totalDocs: number }>('/api/users', { filter: { email } }))
    assert.equal(totalDocs, 0)
  })
})

describe('a token that is bound to addresses', () => {
  const bound = async () => {
    const token = await makeToken(owner())
    await bodyOf(owner().put(`/api/tokens/${token.id}/allowed-ips`, { cidrs: [ALLOWED] }))
    return token
  }
  const refusalOf = (id: string) =>
    eventually('the refusal is in the event log', async () => {
      type Logged = { ip: string; data: { reason: string } }
      const filter = { type: 'token.refused', 'subject.id': id }
      const { docs } = await bodyOf(owner().get<{ docs: Logged[] }>('/api/events', { filter }))
      return docs.length > 0 && docs.map(({ ip, data }) => [ip, data.reason])
    })

  it('does not free itself, however its id is written', async () => {
    const { id, api } = await bound()
    for (const spelling of [id, id.toUpperCase()]) {
      const answer = await from(ALLOWED, api).put(`/api/tokens/${spelling}/allowed-ips`, { cidrs: [] })
      assert.equal(answer.status, 403)
    }
    assert.equal((await from(FOREIGN, api).get('/api/tokens')).status, 403)
  })

  it('leaves a trace of each minute of uses from elsewhere', async () => {
    const { id, api } = await bound()
    for (let times = 0; times < 3; times++) await bodyOf(from(FOREIGN, api).get('/api/tokens'), 403)
    assert.deepEqual(await refusalOf(id), [[FOREIGN, 'token.address_refused']])
  })

  it('is not exchanged elsewhere, and leaves a trace', async () => {
    const { id, token } = await bound()
    type Client = { client_id: string; client_secret: string }
    const client = await bodyOf(
      fromElsewhere(stack.api).post<Client>('/api/auth/clients', { client_name: 'Revocation test' }),
      201,
    )
    const exchange = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      client_id: client.client_id,
      client_secret: client.client_secret,
    }
    const refused = await from(FOREIGN, stack.api).post('/api/auth/token', exchange)
    const message = 'This token may not be used from this address.'
    assert.deepEqual([refused.status, refused.body], [403, { error: true, message }])
    assert.deepEqual(await refusalOf(id), [[FOREIGN, 'token.address_refused']])
    await bodyOf(from(ALLOWED, stack.api).post('/api/auth/token', exchange))
  })
})
