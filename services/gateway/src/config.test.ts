import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { newKeySettings, newSigningKey } from '@rollcall/rpc'
import { boundedContexts } from './backends.ts'
import { readConfig } from './config.ts'

const key = randomBytes(32).toString('base64')
const environment = {
  REDIS_CACHE_URL: 'redis://localhost:6379/0',
  REDIS_QUEUE_URL: 'redis://localhost:6379/1',
  ...newKeySettings(['gateway']).gateway,
  TOKEN_KEY: key,
  SESSION_KEYS: `one:${key}`,
  ...Object.fromEntries(boundedContexts().map(context => [`${context.toUpperCase()}_ADDRESS`, `${context}:50051`])),
  IDENTITY_ADDRESS: 'dns:///identity:50051',
  AUDIENCE_ADDRESS: '127.0.0.1:50052',
  IMPORT_ADDRESS: '[::1]:50053',
}

const tenantKey = { TENANT_ASSERTION_KEY: newSigningKey('gateway') }

describe('the configuration', () => {
  it('has a default for all but what services must agree on', () => {
    const config = readConfig(environment)
    assert.deepEqual(
      [config.PORT, config.TRUST_PROXY, config.RPC_DEADLINE_MS, config.STREAM_DEADLINE_MS, config.UPLOAD_MAX_BYTES],
      [8080, 0, 10_000, 600_000, 200 * 2 ** 20],
    )
  })

  it('names every variable that is missing, and every context of the contract', () => {
    for (const name of Object.keys(environment)) {
      assert.throws(
        () => readConfig({ ...environment, [name]: undefined }),
        new RegExp(`^ConfigError: ${name} is missing`),
      )
    }
  })

  it('takes proxies as a number of hops or as blocks', () => {
    const trust = (TRUST_PROXY: string) => readConfig({ ...environment, TRUST_PROXY }).TRUST_PROXY
    assert.equal(trust('0'), 0)
    assert.equal(trust('2'), 2)
    assert.deepEqual(trust('10.0.0.0/8, 127.0.0.1,fd00::/8'), ['10.0.0.0/8', '127.0.0.1', 'fd00::/8'])
  })

  it('takes tenant servers as JSON or as a list, and none', () => {
    const [one, two] = ['c0ffee'.repeat(4), 'decade'.repeat(4)]
    const servers = (TENANT_SERVERS: string) => [
      ...readConfig({ ...environment, ...tenantKey, TENANT_SERVERS }).TENANT_SERVERS,
    ]
    const both = [
      [one, '127.0.0.1:1'],
      [two, 'dns:///tenant:2'],
    ]
    assert.deepEqual(servers(''), [])
    const TENANT_SERVERS = `${one}=127.0.0.1:1`
    assert.throws(() => readConfig({ ...environment, TENANT_SERVERS }), /^ConfigError: TENANT_ASSERTION_KEY is missing/)
    assert.deepEqual(servers(`{"${one}":"127.0.0.1:1","${two}":"dns:///tenant:2"}`), both)
    assert.deepEqual(servers(` ${one.toUpperCase()}=127.0.0.1:1, ${two}=dns:///tenant:2`), both)
  })

  const unusable: [name: string, value: string][] = [
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '::/0'],
    ['TRUST_PROXY', '10.0.0.0/8,everyone'],
    ['TRUST_PROXY', '11'],
    ['TOKEN_KEY', 'c2hvcnQ='],
    ['SESSION_KEYS', key],
    ['ASSERTION_KEY', 'c2hvcnQ='],
    ['ASSERTION_KEY', `gateway:${key}`],
    ['ASSERTION_PUBLIC_KEYS', `gateway:${key}`],
    ['ASSERTION_PUBLIC_KEYS', newKeySettings(['gateway']).gateway.ASSERTION_KEY],
    ['TENANT_ASSERTION_KEY', environment.ASSERTION_KEY],
    ['IDENTITY_ADDRESS', 'http://identity:50051'],
    ['REDIS_CACHE_URL', 'localhost:6379'],
    ['PORT', '70000'],
    ['TENANT_SERVERS', 'somewhere'],
    ['TENANT_SERVERS', '{"one":"127.0.0.1:1"}'],
    ['TENANT_SERVERS', `${'c0ffee'.repeat(4)}=http://tenant`],
    ['TENANT_SERVERS', `{"${'c0ffee'.repeat(4)}":7}`],
    ['TENANT_SERVERS', '{'],
    ['TENANT_SERVERS', `${'c0ffee'.repeat(4)}=a:1,${'c0ffee'.repeat(4)}=b:1`],
  ]
  for (const [name, value] of unusable) {
    it(`refuses ${name}=${value} by name, and does not repeat it`, () => {
      assert.throws(
        () => readConfig({ ...environment, [name]: value }),
        (error: Error) => error.message.startsWith(`${name} is not usable: expected`) && !error.message.includes(value),
      )
    })
  }
})
