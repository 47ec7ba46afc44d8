import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bodyOf } from '../api.ts'
import { fromElsewhere } from '../every-route.ts'
import { type Founder, found } from './founder.ts'
import { password, type Refusal } from './people.ts'
import { type IdentityStack, startIdentityStack } from './shared-stack.ts'

type Settings = Record<string, unknown>

const HOUR_MS = 3_600_000
const initial = {
  name: 'Founded Works',
  timezone: 'UTC',
  language: 'en',
  allowedOrigins: [],
  sessionHours: 24,
  requireMfa: false,
  eventRetentionDays: 90,
  defaultTracking: { opens: false, clicks: false },
}

describe('the settings of an organization', () => {
  let stack: IdentityStack
  let founder: Founder
  before(async () => {
    stack = await startIdentityStack()
    founder = await found(stack)
  })
  after(() => stack?.stop())

  const read = (api = founder.api) => bodyOf(fromElsewhere(api).get<Settings>('/api/settings'))
  const change = (settings: object) => fromElsewhere(founder.api).patch<Refusal>('/api/settings', settings)

  it('have defaults, and change one by one', async () => {
    assert.deepEqual(await read(), initial)
    const changes = {
      name: 'Renamed Works',
      timezone: 'Europe/Berlin',
      language: 'de-DE',
      allowedOrigins: ['https://app.example.com', 'http://localhost:5173'],
      eventRetentionDays: 90,
    }
    for (const [name, value] of Object.entries(changes)) await bodyOf(change({ [name]: value }))
    await bodyOf(change({ defaultTracking: { clicks: true } }))
    assert.deepEqual(await read(), { ...initial, ...changes, defaultTracking: { opens: false, clicks: true } })
    await bodyOf(change({ allowedOrigins: [] }))
    assert.deepEqual((await read()).allowedOrigins, [])
    const me = await bodyOf(founder.api.get<{ organization: { name: string } }>('/api/me'))
    assert.equal(me.organization.name, 'Renamed Works')
  })

  it('are those of one organization, and need their permission', async () => {
    const other = await found(stack)
    assert.deepEqual(await read(other.api), initial)
    const email = 'without.permission@example.com'
    const person = { name: 'Person', email, password, role: 'user' }
    await bodyOf(fromElsewhere(other.api).post('/api/users', person), 201)
    const { token } = await bodyOf(
      fromElsewhere(stack.api).post<{ token: string }>('/api/auth/login', { email, password }),
    )
    const answer = await fromElsewhere(stack.api.as(token)).get<Refusal>('/api/settings')
    assert.deepEqual([answer.status, answer.body.message], [403, 'Permission denied: settings.read'])
  })

  it('set the lifetime of new sessions', async () => {
    for (const sessionHours of [1, 720]) {
      await bodyOf(change({ sessionHours }))
      const login = { email: founder.email, password }
      const { expiresAt } = await bodyOf(fromElsewhere(stack.api).post<{ expiresAt: string }>('/api/auth/login', login))
      const lifetime = Date.parse(expiresAt) - Date.now()
      assert.ok(Math.abs(lifetime - sessionHours * HOUR_MS) < 60_000, expiresAt)
    }
  })

  it('refuse what they cannot be, and change nothing', async () => {
    const before = await read()
    const refused = async (settings: object) => {
      const { status, body } = await change(settings)
      assert.equal(status, 400, JSON.stringify(settings))
      return body.path
    }
    for (const sessionHours of [0, 721, 1.5, '24']) assert.equal(await refused({ sessionHours }), 'sessionHours')
    for (const eventRetentionDays of [6, 366]) assert.equal(await refused({ eventRetentionDays }), 'eventRetentionDays')
    assert.equal(await refused({ timezone: 'Mars/Olympus' }), 'timezone')
    assert.equal(await refused({ language: 'no language' }), 'language')
    assert.equal(await refused({ name: ' ' }), 'name')
    for (const origin of ['*', 'null', 'https://*.example.com', 'https://a.example.com/', 'https://A.example.com'])
      assert.equal(await refused({ allowedOrigins: ['https://a.example.com', origin] }), 'allowedOrigins.1', origin)
    for (const origin of ['ftp://a.example.com', 'https://u:p@a.example.com', 'https://a.example.com:443'])
      assert.equal(await refused({ allowedOrigins: [origin] }), 'allowedOrigins.0', origin)
    const many = Array.from({ length: 51 }, (_, n) => `https://${n}.example.com`)
    assert.equal(await refused({ allowedOrigins: many }), 'allowedOrigins')
    await refused({})
    assert.equal(await refused({ verified: true }), 'verified')
    assert.deepEqual(await read(), before)
  })
})
