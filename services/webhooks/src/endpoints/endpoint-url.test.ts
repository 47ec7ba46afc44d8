import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Config } from '../config.ts'
import { checkUrl } from './endpoint-url.ts'

const settings = (more: Partial<Config> = {}) => ({ WEBHOOK_ALLOW_HTTP: false, WEBHOOK_ALLOW_PRIVATE: false, ...more })
const resolving = (...addresses: string[]) => ({
  config: settings() as Config,
  addressPolicy: {
    allowPrivate: false,
    resolve: async () => addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
  },
})
const unknown = {
  ...resolving(),
  addressPolicy: { allowPrivate: false, resolve: async () => Promise.reject(new Error()) },
}

/** Spellings of addresses that are not globally reachable (IANA's special-purpose registries). */
const HOSTS = [
  ...['127.0.0.1', '127.255.255.254', '127.1', '0x7f.1', '0X7F000001', '2130706433', '017700000001', '0177.0.0.1'],
  ...[
    '127.0.0.1.',
    '１２７.0.0.1',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '127.0.1',
    '0x7f.0.0.1',
    '0x7f.0x0.0x0.0x1',
    '127.0x1',
  ],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'ⓛocalhost', '0', '0.0.0.0', '0.1.2.3', '00000000'],
  ...['10.0.0.1', '10.255.255.255', '167772161', '0xa.1', '012.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  ...['192.168.255.255', '3232235521', '0xc0a80001', '169.254.169.254', '169.254.0.1', '2852039166', '0xa9fea9fe'],
  ...['100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.0.170', '192.0.2.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
  ...[
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:10.0.0.1]',
    '[::127.0.0.1]',
  ],
  ...[
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::a00:1]',
    '[100::1]',
    '[2001::1]',
  ],
  ...[
    '[2001:2::1]',
    '[2001:10::1]',
    '[2001:20::1]',
    '[2001:db8::1]',
    '[2002:7f00:1::]',
    '[2002:a00:1::1]',
    '[3fff::1]',
  ],
  ...['[5f00::1]', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[febf::1]', '[fec0::1]', '[ff02::1]', '[ff0e::1]'],
]

describe('the URL of a webhook', () => {
  it('has no host of a special address, in any spelling', async () => {
    assert.ok(new Set(HOSTS).size >= 80)
    const accepted: string[] = []
    const sunk: string[] = []
    for (const host of HOSTS) {
      if (URL.canParse(`https://${host}/`)) sunk.push(host) // what a naive check of the URL accepts
      await checkUrl(resolving('8.8.8.8'), `https://${host}/`).then(
        () => accepted.push(host),
        ({ code }) => assert.equal(code, 'request.invalid_field'),
      )
    }
    assert.deepEqual(accepted, [])
    assert.ok(sunk.length > 70)
  })

  it('has no name with any such address', async () => {
    for (const addresses of [['10.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::ffff:8.8.8.8']])
      await assert.rejects(checkUrl(resolving(...addresses), 'https://receiver.example.com/'), /not allowed/)
  })

  it('may have a name that does not resolve yet', async () => {
    assert.equal(await checkUrl(unknown, 'https://Receiver.example.com'), 'https://receiver.example.com/')
  })

  it('has an allowed scheme and port', async () => {
    const check = (url: string, more: Partial<Config> = {}) =>
      checkUrl({ ...resolving('8.8.8.8'), config: settings(more) as Config }, url)
    await check('https://example.com:8443/a?b=c')
    await assert.rejects(check('https://example.com:22/'), /port must be one of 443, 8443/)
    await assert.rejects(check('http://example.com/'), /must begin with https/)
    await check('http://example.com:8080/', { WEBHOOK_ALLOW_HTTP: true })
    await check('https://example.com:444/', { WEBHOOK_PORTS: ['444'] })
    await assert.rejects(check('https://example.com/', { WEBHOOK_PORTS: ['444'] }), /port/)
  })
})
