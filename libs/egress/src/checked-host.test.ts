import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalHost, checkHost, resolveHost, UnsafeHost } from './checked-host.ts'

const answering = (...addresses: string[]) => ({
  allowPrivate: false,
  resolve: async () => addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
})
const strict = answering('8.8.8.8')

describe('hosts that users choose', () => {
  const special = [
    ['loopback', '127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
    ['link-local', '169.254.169.254', 'fe80::1', 'febf::1'],
    ['shared by a carrier', '100.64.0.1', '100.127.255.255'],
    ['multicast and broadcast', '224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
    ['unspecified or reserved', '0.0.0.0', '0.1.2.3', '240.0.0.1', '::', '192.0.0.1', '198.18.0.1', '2001:db8::1'],
    ['mapped IPv4', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1', '[::ffff:10.0.0.1]'],
    ['translated IPv4', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001::1'],
    ['oddly spelt loopback', '0x7f.1', '2130706433', '0177.0.0.1', '127.1', '0x7f000001', '127.0.0.1.', '017700000001'],
    ['oddly spelt loopback of other alphabets', '１２７.0.0.1', '127。0。0。1', '①②⑦.⓪.⓪.①'],
    ['localhost', 'localhost', 'LOCALHOST.', 'mail.localhost', 'ⓛocalhost'],
  ] as const
  for (const [what, ...hosts] of special) {
    it(`are refused where they are ${what}`, async () => {
      for (const host of hosts) await assert.rejects(resolveHost(host, strict), UnsafeHost, host)
    })
  }

  it('are refused if any address of their name is special, or if they have none', async () => {
    await assert.rejects(resolveHost('mail.example.com', answering('8.8.8.8', '10.0.0.1')), UnsafeHost)
    await assert.rejects(resolveHost('mail.example.com', answering('::ffff:8.8.8.8')), UnsafeHost)
    await assert.rejects(resolveHost('mail.example.com', answering()), UnsafeHost)
  })

  it('are refused if they are not a host', async () => {
    for (const host of [
      '',
      ' ',
      'a b',
      'user@host',
      'host:25',
      'host/path',
      '1.2.3.4.5',
      '1.2.3.256',
      '127%2e0.0.1',
      'fe80::1%eth0',
      '-a.com',
      'a..b',
      '[::1',
      'http://a.com',
    ]) {
      await assert.rejects(resolveHost(host, strict), UnsafeHost, host)
    }
  })

  it('are resolved once: the checked address and the name of the certificate', async () => {
    assert.deepEqual(await resolveHost('Mail.Example.com.', answering('8.8.8.8')), {
      address: '8.8.8.8',
      addresses: ['8.8.8.8'],
      name: 'mail.example.com',
    })
    for (const [host, name] of [
      ['8.8.8.8', '8.8.8.8'],
      ['[2606:4700::1111]', '2606:4700::1111'],
    ] as const)
      assert.deepEqual(await resolveHost(host, strict), { address: name, addresses: [name], name })
    assert.equal(canonicalHost('bücher.example'), 'xn--bcher-kva.example')
  })

  it('may be of the documentation networks only if the policy says so', async () => {
    for (const host of ['192.0.2.1', '198.51.100.255', '203.0.113.9']) {
      assert.equal((await resolveHost(host, { ...strict, allowExamples: true })).address, host)
      await assert.rejects(resolveHost(host, strict), UnsafeHost)
    }
    await assert.rejects(resolveHost('::ffff:192.0.2.1', { ...strict, allowExamples: true }), UnsafeHost)
  })

  it('may be anything if private addresses are allowed', async () => {
    const open = { ...answering('10.0.0.1'), allowPrivate: true }
    assert.equal((await resolveHost('0x7f.1', open)).address, '127.0.0.1')
    assert.equal((await resolveHost('mail.internal', open)).address, '10.0.0.1')
  })

  it('are stored although their name does not resolve yet', async () => {
    const unknown = { allowPrivate: false, resolve: async () => Promise.reject(new Error('ENOTFOUND')) }
    await checkHost('mail.example.com', unknown)
    await assert.rejects(resolveHost('mail.example.com', unknown), { message: 'ENOTFOUND' })
  })

  it('are refused in any spelling of an IPv4 address', async () => {
    const part = (value: number) =>
      fc.constantFrom(String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`, `0X${value.toString(16)}`)
    const spelling = fc
      .tuple(
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom('', '.'),
      )
      .chain(([b, c, d, dot]) =>
        fc.oneof(
          fc.tuple(part(10), part(b), part(c), part(d)).map(parts => parts.join('.') + dot),
          fc.tuple(part(10), part(b), part(c * 256 + d)).map(parts => parts.join('.') + dot),
          fc.tuple(part(10), part((b * 256 + c) * 256 + d)).map(parts => parts.join('.') + dot),
          part(((10 * 256 + b) * 256 + c) * 256 + d).map(text => text + dot),
        ),
      )
    await fc.assert(fc.asyncProperty(spelling, host => assert.rejects(resolveHost(host, strict), UnsafeHost)))
  })
})
