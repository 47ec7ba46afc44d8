import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { after, before, beforeEach, describe, it } from 'node:test'
import { AppError, json } from '@rollcall/contract'
import { connectCacheRedis, createCredentialCache } from '@rollcall/credentials'
import { pause } from '@rollcall/runtime'
import { eventually } from '@rollcall/testing/eventually'
import { linkTo } from '@rollcall/testing/link'
import { scaledTimeout } from '@rollcall/testing/scaled-timeout'
import {
  bootGateway,
  issueSession,
  issueToken,
  openRaw,
  organizationId,
  type RawClient,
  type StubbedServices,
  type TestGateway,
} from '../test/gateway.ts'

const id = 'c0ffee'.repeat(4)

describe('credentials', () => {
  const prefix = `test:${randomUUID()}:credential:`
  const redis = connectCacheRedis({ url: process.env.REDIS_CACHE_URL! })
  const cache = createCredentialCache(redis, { prefix })
  let gateway: TestGateway
  let token: string
  let session: string

  before(async () => {
    gateway = await bootGateway({ CREDENTIAL_PREFIX: prefix, TRUST_PROXY: '1' })
    await prepareCache(prefix)
    token = issueToken(gateway.services)
    session = issueSession(gateway.services)
  })
  after(async () => {
    await gateway.stop()
    redis.disconnect()
  })
  beforeEach(() => {
    gateway.services.calls.length = 0
    gateway.services.behaviours.clear()
  })

  const get = (headers: Record<string, string>) => fetch(`${gateway.url}/api/audience/${id}`, { headers })
  const patch = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/api/audience/${id}/unblock`, { method: 'PATCH', headers })
  const callerOf = () => gateway.services.calls.findLast(({ method }) => !method.startsWith('resolve'))!.call.caller

  it('come by header, with or without Bearer, or by one of two cookies', async () => {
    for (const credential of [token, session]) {
      for (const headers of [
        { Authorization: credential },
        { Authorization: `Bearer ${credential}` },
        { Authorization: `bearer ${credential}` },
        { Cookie: `auth_token=${encodeURIComponent(credential)}` },
        { Cookie: `theme=dark; authorization=${encodeURIComponent(`Bearer ${credential}`)}` },
      ]) {
        assert.equal((await get(headers)).status, 200, JSON.stringify(headers))
      }
    }
  })

  it('count by header first, then auth_token, then authorization', async () => {
    const cookies = `auth_token=${session}; authorization=nonsense`
    assert.equal((await get({ Cookie: cookies })).status, 200)
    assert.equal((await get({ Cookie: `auth_token=nonsense; authorization=${session}` })).status, 401)
    assert.equal((await get({ Authorization: 'nonsense', Cookie: cookies })).status, 401)
    assert.equal(callerOf().kind, 'session')
  })

  const refusals: [what: string, credential: string, reason: string][] = [
    ['none', '', 'No credential.'],
    ['a value that is neither', 'nonsense', 'Invalid token format. Expected orgId:secret.'],
    ['another organization id', `nonsense:${'a'.repeat(60)}`, 'Invalid token format.'],
    ['a token nobody issued', `${organizationId}:${'a'.repeat(60)}`, 'Invalid or inactive API token.'],
    ['a JWT nobody signed', 'aaa.bbb.ccc', 'Invalid or expired session.'],
  ]
  for (const [what, credential, reason] of refusals) {
    it(`are refused where they are ${what}`, async () => {
      const response = await get(credential ? { Authorization: credential } : {})
      assert.equal(response.status, 401)
      assert.equal(await response.text(), 'Unauthorized')
      assert.ok(response.headers.get('www-authenticate')?.endsWith(`error_description="${reason}"`))
      assert.equal(gateway.services.count('getContact'), 0)
    })
  }

  it('are refused once a JWT has expired', async () => {
    const expired = issueSession(gateway.services, { exp: Math.floor(Date.now() / 1000) - 1 })
    assert.equal((await get({ Authorization: expired })).status, 401)
    assert.equal(gateway.services.count('resolveSession'), 0)
  })

  it('are resolved at identity once, then by the cache', async () => {
    for (const [method, credential] of [
      ['resolveToken', issueToken(gateway.services)],
      ['resolveSession', issueSession(gateway.services)],
    ] as const) {
      await cached(gateway.services, method, () => get({ Authorization: credential }))
      const asked = gateway.services.count(method)
      for (let time = 0; time < 5; time++) assert.equal((await get({ Authorization: credential })).status, 200)
      assert.equal(gateway.services.count(method), asked)
    }
  })

  it('are resolved by a call of the gateway itself', async () => {
    await get({ Authorization: issueToken(gateway.services), 'X-Request-Id': 'traced' })
    const { call } = gateway.services.calls.find(({ method }) => method === 'resolveToken')!
    assert.deepEqual(
      [call.caller.kind, call.caller.userName, call.caller.organizationId],
      ['service', 'gateway', organizationId],
    )
    assert.equal(call.requestId, 'traced')
  })

  it('are refused on the very next request after a change, with a warm cache', async () => {
    const sid = randomUUID()
    const ended = issueSession(gateway.services, { sid })
    await cached(gateway.services, 'resolveSession', () => get({ Authorization: ended }))
    await cache.change({ organizationId, credentials: [{ kind: 'session', id: sid }] }, async () => {
      gateway.services.credentials.delete(sid)
    })
    assert.equal((await get({ Authorization: ended })).status, 401)
  })

  it('end at their expiry, also on the cached path', async () => {
    const expiresAt = Date.now() + scaledTimeout(500)
    const short = issueToken(gateway.services, { expiresAt: new Date(expiresAt).toISOString() })
    await cached(gateway.services, 'resolveToken', () => get({ Authorization: short }))
    gateway.services.behaviours.set('resolveToken', () => {
      throw new AppError('token.invalid')
    })
    await pause(expiresAt - Date.now() + 5)
    assert.equal((await get({ Authorization: short })).status, 401)
  })

  it('of a blocked account are refused with 403', async () => {
    gateway.services.behaviours.set('resolveToken', () => {
      throw new AppError('account.blocked')
    })
    const response = await get({ Authorization: issueToken(gateway.services) })
    assert.deepEqual([response.status, await response.json()], [403, { error: true, message: 'Account is blocked.' }])
  })

  it('are valid only from the addresses of the token', async () => {
    const bound = issueToken(gateway.services, { allowedIps: ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'] })
    const from = async (address: string) => (await get({ Authorization: bound, 'X-Forwarded-For': address })).status
    for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1', '198.51.100.7']) {
      assert.equal(await from(address), 200, address)
    }
    for (const address of ['203.0.114.9', '2001:db9::1', '198.51.100.8', '127.0.0.1', 'nonsense']) {
      assert.equal(await from(address), 403, address)
    }
  })

  it('finding 21: are valid from a forged address only if proxies are trusted by number', async () => {
    const bound = { allowedIps: ['203.0.113.0/24'] }
    const statusWith = async (TRUST_PROXY: string) => {
      const other = await bootGateway({ TRUST_PROXY })
      const headers = { Authorization: issueToken(other.services, bound), 'X-Forwarded-For': '203.0.113.9' }
      const { status } = await fetch(`${other.url}/api/auth/me`, { headers })
      await other.stop()
      const warnings = other.log.filter(({ msg }) => String(msg).startsWith('TRUST_PROXY is a number of hops'))
      return { status, warnings: warnings.length }
    }
    assert.deepEqual(await statusWith('10.0.0.0/8'), { status: 403, warnings: 0 })
    assert.deepEqual(await statusWith('0'), { status: 403, warnings: 0 })
    assert.deepEqual(await statusWith('1'), { status: 200, warnings: 1 })
  })

  it('of an impersonation only read, whatever identity says', async () => {
    const impersonating = issueSession(gateway.services, { act: { sub: id } })
    assert.equal((await get({ Authorization: impersonating })).status, 200)
    assert.equal(callerOf().readOnly, true)
    const response = await patch({ Authorization: impersonating })
    assert.deepEqual(
      [response.status, await response.json()],
      [403, { success: false, message: 'Impersonation is read-only.' }],
    )
  })

  it('of a limited scope grant no more than that, nor more than the session', async () => {
    const scoped = issueSession(gateway.services, { scope: 'audience.read tokens.read' })
    assert.equal((await get({ Authorization: scoped })).status, 200)
    assert.deepEqual(callerOf().permissions, ['audience.read', 'tokens.read'])
    assert.equal((await patch({ Authorization: scoped })).status, 403)
    const known = { permissions: ['audience.read'] }
    const greedy = issueSession(gateway.services, { scope: 'audience.read audience.update' }, known)
    assert.equal((await patch({ Authorization: greedy })).status, 403)
  })

  it('need the permission that the route declares', async () => {
    const reader = issueToken(gateway.services, { permissions: ['audience.read'] })
    assert.equal((await get({ Authorization: reader })).status, 200)
    const response = await patch({ Authorization: reader })
    assert.deepEqual(await response.json(), { error: true, message: 'Permission denied: audience.update' })
    const me = await fetch(`${gateway.url}/api/auth/me`, { headers: { Authorization: reader } })
    assert.equal(me.status, 200)
  })

  it('are ignored on public routes', async () => {
    const response = await fetch(`${gateway.url}/api/auth/login`, {
      method: 'POST',
      headers: { Authorization: 'nonsense', Cookie: 'auth_token=nonsense', 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'one@example.com', password: 'secret' }),
    })
    assert.equal(response.status, 503, 'the stub answers no session')
    assert.equal(callerOf().kind, 'anonymous')
    assert.equal(callerOf().ip, '127.0.0.1')
  })

  it('are passed on, but not resolved, on public routes for browsers', async () => {
    const sid = randomUUID()
    const path = '/api/invitations/secret/accept'
    for (const [cookie, sessionId] of [
      [`auth_token=${issueSession(gateway.services, { sid })}`, sid],
      ['auth_token=nonsense', undefined],
      ['', undefined],
    ] as const) {
      const headers = { Cookie: cookie, Origin: gateway.url, 'Content-Type': 'application/json' }
      await fetch(gateway.url + path, { method: 'POST', headers, body: '{}' })
      assert.deepEqual([callerOf().kind, callerOf().sessionId], ['anonymous', sessionId])
    }
    assert.ok(gateway.services.calls.every(({ method }) => !method.startsWith('resolve')))
  })

  describe('of a request whose body is held back', () => {
    const contact = '{"email":"one@example.com"}'
    const formStart = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n'
    const bodies = [
      { path: '/api/audience', type: 'application/json', body: contact, method: 'createContact', status: 201 },
      {
        path: '/api/audience/import/upload',
        type: 'multipart/form-data; boundary=x',
        body: `${formStart}\r\n--x--\r\n`,
        method: 'uploadImport',
        status: 200,
      },
    ]
    let stored = 0

    beforeEach(() => {
      stored = 0
      gateway.services.behaviours.set('uploadImport', async (chunks: AsyncIterable<unknown>) => {
        for await (const _ of chunks);
        stored++
        return json({ importId: 'one' })
      })
      gateway.services.behaviours.set('createContact', () => json({ stored: ++stored }))
    })

    const lookups = async () => {
      const { values } = await gateway.lifecycle.metrics.registry
        .getSingleMetric('rollcall_credential_lookups_total')!
        .get()
      return values.reduce((sum, { value }) => sum + value, 0)
    }
    const newSession = async () => {
      const sid = randomUUID()
      const jwt = issueSession(gateway.services, { sid })
      await cached(gateway.services, 'resolveSession', () => get({ Authorization: jwt }))
      return { sid, jwt }
    }
    /** Sends a request up to the given byte of its body. Resolves when it has passed the guard. */
    const begin = async (jwt: string, { path, type, body }: (typeof bodies)[number], bytes = body.length) => {
      const client = await openRaw(gateway.port)
      const before = await lookups()
      const head = [
        `POST ${path} HTTP/1.1`,
        'Host: a',
        `Authorization: ${jwt}`,
        `Content-Type: ${type}`,
        `Content-Length: ${body.length}`,
      ]
      client.socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, bytes)}`)
      await eventually('the credential is looked up', async () => (await lookups()) > before)
      return client
    }
    const statusOf = async (client: RawClient) => {
      const [, status] = /^HTTP\/1.1 (\d{3}) /.exec(await client.reads(/^HTTP\/1.1 \d{3} /))!
      client.socket.destroy()
      return Number(status)
    }
    const changes: [change: string, status: number, make: (sid: string) => void][] = [
      ['ended', 401, sid => gateway.services.credentials.delete(sid)],
      [
        'lost the permission',
        403,
        sid => issueSession(gateway.services, { sid }, { role: 'reader', permissions: ['audience.read'] }),
      ],
    ]

    for (const request of bodies) {
      for (const [change, status, make] of changes) {
        it(`are refused if they ${change} before its last byte, by ${request.method}`, async () => {
          const { sid, jwt } = await newSession()
          const client = await begin(jwt, request, request.body.length - 1)
          await cache.change({ organizationId, credentials: [{ kind: 'session', id: sid }] }, async () => {
            make(sid)
          })
          client.socket.write(request.body.slice(-1))
          assert.deepEqual([await statusOf(client), stored], [status, 0])
        })
      }

      it(`are looked up again at its end, by ${request.method}`, async () => {
        const { jwt } = await newSession()
        const before = await lookups()
        const client = await begin(jwt, request, request.body.length - 1)
        client.socket.write(request.body.slice(-1))
        assert.equal(await statusOf(client), request.status)
        assert.deepEqual([stored, await lookups()], [1, before + 2])
      })

      it(`are looked up once for a body that comes with its head, by ${request.method}`, async () => {
        const { jwt } = await newSession()
        const before = await lookups()
        const client = await begin(jwt, request)
        assert.equal(await statusOf(client), request.status)
        assert.deepEqual([stored, await lookups()], [1, before + 1])
      })
    }
  })

  describe('in cookies', () => {
    const cookie = () => ({ Cookie: `auth_token=${session}` })

    it('may read from anywhere', async () => {
      assert.equal(
        (await get({ ...cookie(), Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' })).status,
        200,
      )
    })

    const allowed: Record<string, () => Record<string, string>> = {
      'the same site by Sec-Fetch-Site': () => ({ 'Sec-Fetch-Site': 'same-origin' }),
      'the same origin': () => ({ Origin: gateway.url }),
      'the same origin behind a proxy': () => ({
        Origin: 'https://console.example',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'console.example',
      }),
    }
    for (const [what, headers] of Object.entries(allowed)) {
      it(`may change from ${what}`, async () => assert.equal((await patch({ ...cookie(), ...headers() })).status, 200))
    }

    const refused: Record<string, () => Record<string, string>> = {
      nowhere: () => ({}),
      'another site': () => ({ 'Sec-Fetch-Site': 'cross-site', Origin: gateway.url }),
      'a sibling site': () => ({ 'Sec-Fetch-Site': 'same-site' }),
      'another origin': () => ({ Origin: 'https://evil.example' }),
      'another port': () => ({ Origin: 'http://127.0.0.1:1' }),
      'a hidden origin': () => ({ Origin: 'null' }),
    }
    for (const [what, headers] of Object.entries(refused)) {
      it(`may not change from ${what}`, async () => {
        const response = await patch({ ...cookie(), ...headers() })
        const message = 'State-changing requests with a cookie must come from the same origin.'
        assert.deepEqual([response.status, await response.json()], [403, { error: true, message }])
        assert.equal(gateway.services.count('unblockContact'), 0)
      })
    }

    it('are not needed by programs: a header may change from anywhere', async () => {
      assert.equal((await patch({ Authorization: session, Origin: 'https://evil.example' })).status, 200)
    })
  })
})

describe('credentials during an outage', () => {
  it('are valid without identity while they are cached, else get 503', async () => {
    const prefix = `test:${randomUUID()}:credential:`
    const deadlineMs = scaledTimeout(500)
    const gateway = await bootGateway({ CREDENTIAL_PREFIX: prefix, RPC_DEADLINE_MS: String(deadlineMs) })
    await prepareCache(prefix)
    const { services } = gateway
    const statusOf = (credential: string) =>
      fetch(`${gateway.url}/api/audience/${id}`, { headers: { Authorization: credential } }).then(
        ({ status }) => status,
      )
    const warm = issueToken(services)
    await cached(services, 'resolveToken', () => statusOf(warm))
    services.behaviours.set('resolveToken', () => new Promise(() => {}))
    const startedAt = performance.now()
    assert.equal(await statusOf(issueToken(services)), 503)
    assert.ok(performance.now() - startedAt < scaledTimeout(3 * deadlineMs))
    assert.equal(await statusOf(warm), 200)
    await gateway.stop()
  })

  for (const mode of ['cut', 'silent'] as const) {
    it(`are resolved at identity each time while Redis is ${mode}, and cached again afterwards`, async () => {
      const link = await linkTo(process.env.REDIS_CACHE_URL!)
      const prefix = `test:${randomUUID()}:credential:`
      const gateway = await bootGateway({ CREDENTIAL_PREFIX: prefix, REDIS_CACHE_URL: link.url })
      await prepareCache(prefix)
      const { services } = gateway
      const token = issueToken(services)
      const ask = async () => {
        const response = await fetch(`${gateway.url}/api/audience/${id}`, { headers: { Authorization: token } })
        return { status: response.status, remaining: Number(response.headers.get('ratelimit-remaining')) }
      }
      await cached(services, 'resolveToken', ask)

      link.become(mode)
      const asked = services.count('resolveToken')
      const answers = [await ask(), await ask(), await ask()]
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      )
      assert.equal(services.count('resolveToken'), asked + 3)
      assert.equal(answers[2]!.remaining, answers[0]!.remaining - 2, 'the limits are still counted')
      const known = new Map(services.credentials)
      services.credentials.clear()
      assert.equal((await ask()).status, 401, 'nothing is remembered in the process')
      for (const [key, value] of known) services.credentials.set(key, value)

      link.become('open')
      await cached(services, 'resolveToken', ask)
      await gateway.stop()
      await link.stop()
    })
  }

  it('do not prevent a start without Redis; limits count in Redis once it is up', async () => {
    const link = await linkTo(process.env.REDIS_CACHE_URL!)
    link.become('cut')
    const limitPrefix = `test:${randomUUID()}:`
    const gateway = await bootGateway({ REDIS_CACHE_URL: link.url, LIMIT_PREFIX: limitPrefix })
    const token = issueToken(gateway.services)
    const ask = () => fetch(`${gateway.url}/api/audience/${id}`, { headers: { Authorization: token } })
    assert.equal((await ask()).status, 200)
    link.become('open')
    const redis = connectCacheRedis({ url: process.env.REDIS_CACHE_URL! })
    await once(redis, 'ready')
    do await ask()
    while ((await redis.exists(`${limitPrefix}global:127.0.0.1`)) === 0)
    redis.disconnect()
    await gateway.stop()
    await link.stop()
  })
})

async function prepareCache(prefix: string): Promise<void> {
  const redis = connectCacheRedis({ url: process.env.REDIS_CACHE_URL! })
  await once(redis, 'ready')
  await createCredentialCache(redis, { prefix }).prepare(organizationId)
  redis.disconnect()
}

/** Repeats a request until its credential is cached. */
async function cached(services: StubbedServices, method: string, again: () => Promise<unknown>): Promise<void> {
  for (let before = -1; before !== services.count(method); ) {
    before = services.count(method)
    await again()
    await pause(10)
  }
}
