import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startTestDns, type TestDns, type ZoneRecord } from '@rollcall/testing/dns'
import { AUTHORITATIVE_ANSWER, encode } from 'dns-packet'
import fc from 'fast-check'
import { checkRecords, type Finding } from './check.ts'
import { createResolver, type ResolverOptions } from './resolver.ts'
import type { Expected } from './verdict.ts'

const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(12)
const DOMAIN = 'm.example.com'
const dkim: Expected = {
  type: 'TXT',
  name: 'rc1._domainkey.m.example.com',
  value: `v=DKIM1; k=rsa; p=${KEY}`,
  purpose: 'dkim',
}
const spf: Expected = { type: 'TXT', name: DOMAIN, value: 'v=spf1 include:spf.rollcall.net ~all', purpose: 'spf' }
const alias: Expected = {
  type: 'CNAME',
  name: 'bounce.m.example.com',
  value: 'return.rollcall.net',
  purpose: 'return_path',
}
const mx: Expected = { type: 'MX', name: DOMAIN, value: 'mx1.rollcall.net', priority: 10, purpose: 'mx' }
const dmarc: Expected = { type: 'TXT', name: '_dmarc.m.example.com', value: 'v=DMARC1; p=none', purpose: 'dmarc' }

const strings = (text: string) => text.match(/.{1,255}/g) ?? []
const txt = (name: string, text: string): ZoneRecord => ({ name, type: 'TXT', data: strings(text) })
const cname = (name: string, target: string): ZoneRecord => ({ name, type: 'CNAME', data: target })
const mailTo = (exchange: string, preference = 10): ZoneRecord => ({
  name: DOMAIN,
  type: 'MX',
  data: { preference, exchange },
})
const address = (name: string, data: string): ZoneRecord => ({ name, type: 'A', data })

/** One situation: what is published in example.com, and the expected finding for a record. */
type Situation = [
  what: string,
  expected: Expected,
  published: ZoneRecord[],
  status: Finding['status'],
  reason: string | null,
]

const rightKey = txt(dkim.name, dkim.value)
const situations: Situation[] = [
  // DKIM
  ['a key as it should be', dkim, [rightKey], 'ok', null],
  ['nothing', dkim, [], 'missing', 'not found'],
  [
    'tags in another order, in upper case, without spaces',
    dkim,
    [txt(dkim.name, `P=${KEY};K=RSA;V=dkim1;`)],
    'ok',
    null,
  ],
  [
    'a key folded by white space',
    dkim,
    [txt(dkim.name, `v=DKIM1; k=rsa; p=${KEY.slice(0, 200)} ${KEY.slice(200)}`)],
    'ok',
    null,
  ],
  ['a key without what is the default anyway', dkim, [txt(dkim.name, `p=${KEY}`)], 'ok', null],
  ['a text of many short strings', dkim, [{ ...rightKey, data: dkim.value.match(/.{1,20}/g) }], 'ok', null],
  [
    'another key',
    dkim,
    [txt(dkim.name, `v=DKIM1; k=rsa; p=${KEY.replaceAll('M', 'N')}`)],
    'mismatch',
    'another key is published there, replace its value with the one that is shown here',
  ],
  [
    'two keys at one name',
    dkim,
    [rightKey, txt(dkim.name, 'v=DKIM1; p=MIIB')],
    'conflict',
    '2 DKIM keys are published at this name, keep only the one that is shown here',
  ],
  ['a revoked key', dkim, [txt(dkim.name, 'v=DKIM1; p=')], 'mismatch', 'the key there is revoked, its p= is empty'],
  [
    'a key that is for other services',
    dkim,
    [txt(dkim.name, `${dkim.value}; s=tlsrpt`)],
    'mismatch',
    'there is more in the record than the value, enter the value alone',
  ],
  [
    'a text that is no key',
    dkim,
    [txt(dkim.name, 'hello')],
    'mismatch',
    'there is a TXT record, but no DKIM key in it',
  ],
  [
    'the strings as records of their own',
    dkim,
    [txt(dkim.name, dkim.value.slice(255)), txt(dkim.name, dkim.value.slice(0, 255))],
    'mismatch',
    'the value was split into 2 separate records, it has to be one record (which may consist of several strings)',
  ],
  [
    'quotation marks inside the value',
    dkim,
    [txt(dkim.name, `"${dkim.value.slice(0, 255)}" "${dkim.value.slice(255)}"`)],
    'mismatch',
    'quotation marks became part of the value, enter it without them',
  ],
  [
    'escaped semicolons',
    dkim,
    [txt(dkim.name, dkim.value.replaceAll(';', '\\;'))],
    'mismatch',
    'backslashes became part of the value, enter it without them',
  ],
  [
    'a key cut off after 255 characters',
    dkim,
    [txt(dkim.name, dkim.value.slice(0, 255))],
    'mismatch',
    `the value is cut off after 255 characters, enter all ${dkim.value.length}`,
  ],
  [
    'a key in lower case',
    dkim,
    [txt(dkim.name, dkim.value.toLowerCase())],
    'mismatch',
    'upper and lower case were changed, copy the value as it is',
  ],
  [
    'a dot behind the value',
    dkim,
    [txt(dkim.name, `${dkim.value}.`)],
    'mismatch',
    'the value ends with a dot that does not belong to it',
  ],
  [
    'a name that the panel doubled',
    dkim,
    [txt('rc1._domainkey.m.example.com.example.com', dkim.value)],
    'missing',
    'it was published at rc1._domainkey.m.example.com.example.com: the domain is added to names there, so enter "rc1._domainkey.m" as the name',
  ],
  [
    'a name without the subdomain',
    dkim,
    [txt('rc1._domainkey.example.com', dkim.value)],
    'missing',
    'it was published at rc1._domainkey.example.com, but belongs to rc1._domainkey.m.example.com',
  ],
  [
    'a name without the underscore',
    dkim,
    [txt('rc1.domainkey.m.example.com', dkim.value)],
    'missing',
    'it was published at rc1.domainkey.m.example.com, the underscore of rc1._domainkey.m.example.com is missing',
  ],
  [
    'a wildcard that answers for everything',
    dkim,
    [txt('*.example.com', 'v=spf1 -all')],
    'missing',
    'not found, what answers is the wildcard record *._domainkey.m.example.com or one above it',
  ],
  [
    'a CNAME to where the key is',
    dkim,
    [cname(dkim.name, 'k.example.com'), txt('k.example.com', dkim.value)],
    'ok',
    null,
  ],
  ['a CNAME into another zone', dkim, [cname(dkim.name, 'K.Other.Example.NET')], 'ok', null],
  [
    'a CNAME to nowhere',
    dkim,
    [cname(dkim.name, 'gone.example.com')],
    'missing',
    'the name is an alias (CNAME) of gone.example.com, and there is no TXT record',
  ],
  [
    'CNAMEs in a circle',
    dkim,
    [cname(dkim.name, 'a.example.com'), cname('a.example.com', 'b.example.com'), cname('b.example.com', dkim.name)],
    'mismatch',
    `the aliases (CNAME) lead in a circle: ${dkim.name} → a.example.com → b.example.com → ${dkim.name}`,
  ],
  [
    'CNAMEs without an end',
    dkim,
    [
      cname(dkim.name, 'c0.example.com'),
      ...Array.from({ length: 20 }, (_, index) => cname(`c${index}.example.com`, `c${index + 1}.example.com`)),
    ],
    'mismatch',
    'more than 8 aliases (CNAME) in a row, nobody follows so many',
  ],
  // SPF
  ['an SPF record as it should be', spf, [txt(DOMAIN, spf.value)], 'ok', null],
  [
    'one that allows more, in upper case and among other texts',
    spf,
    [txt(DOMAIN, 'site-verification=1'), txt(DOMAIN, 'V=SPF1  mx INCLUDE:SPF.Rollcall.NET. -ALL')],
    'ok',
    null,
  ],
  [
    'two SPF records',
    spf,
    [txt(DOMAIN, 'v=spf1 mx -all'), txt(DOMAIN, spf.value)],
    'conflict',
    'two SPF records, receivers then accept none of them: make one of them, "v=spf1 mx include:spf.rollcall.net -all"',
  ],
  [
    'one that does not include us',
    spf,
    [txt(DOMAIN, 'v=spf1 include:other.example a -all')],
    'mismatch',
    'the SPF record does not include spf.rollcall.net, make it "v=spf1 include:other.example a include:spf.rollcall.net -all"',
  ],
  [
    'one that refers to another',
    spf,
    [txt(DOMAIN, 'v=spf1 redirect=_spf.other.example')],
    'mismatch',
    'the SPF record does not include spf.rollcall.net, make it "v=spf1 include:spf.rollcall.net redirect=_spf.other.example"',
  ],
  [
    'one whose include comes too late',
    spf,
    [txt(DOMAIN, 'v=spf1 ~all include:spf.rollcall.net')],
    'mismatch',
    'include:spf.rollcall.net stands behind "~all", where receivers no longer look: move it before that',
  ],
  [
    'one that shuts us out',
    spf,
    [txt(DOMAIN, 'v=spf1 -include:spf.rollcall.net ~all')],
    'mismatch',
    '"-include:spf.rollcall.net" turns mail away instead of allowing it, make it "include:spf.rollcall.net"',
  ],
  [
    'one that receivers give up on',
    spf,
    [txt(DOMAIN, `v=spf1 include:spf.rollcall.net ${'a mx exists:e.example '.repeat(4)}~all`)],
    'mismatch',
    'the SPF record makes receivers ask DNS 13 times and they stop at 10, remove what is not needed',
  ],
  [
    'an SPF record in quotation marks',
    spf,
    [txt(DOMAIN, `"${spf.value}"`)],
    'mismatch',
    'quotation marks became part of the value, enter it without them',
  ],
  [
    'texts, but no SPF record',
    spf,
    [txt(DOMAIN, 'site-verification=1')],
    'missing',
    'none of the TXT records there is an SPF record',
  ],
  [
    'an SPF record at a doubled name',
    spf,
    [txt('m.example.com.m.example.com', spf.value)],
    'missing',
    'it was published at m.example.com.m.example.com: the domain is added to names there, so enter "@" as the name',
  ],
  // CNAME
  ['a CNAME as it should be', alias, [cname(alias.name, alias.value)], 'ok', null],
  ['one in upper case', alias, [cname(alias.name, 'RETURN.Rollcall.Net')], 'ok', null],
  [
    'one that leads there over another',
    alias,
    [cname(alias.name, 'b.example.com'), cname('b.example.com', alias.value)],
    'ok',
    null,
  ],
  [
    'one that leads elsewhere',
    alias,
    [cname(alias.name, 'parking.example.net')],
    'mismatch',
    'it leads to parking.example.net instead of return.rollcall.net',
  ],
  [
    'one without the dot at the end',
    alias,
    [cname(alias.name, 'return.rollcall.net.example.com')],
    'mismatch',
    'it leads to return.rollcall.net.example.com: the domain was added behind the value, end the value with a dot',
  ],
  [
    'a proxy in place of the CNAME',
    alias,
    [address(alias.name, '104.16.0.1')],
    'mismatch',
    'an address (104.16.0.1) answers in place of the CNAME: if the record is proxied, switch it to DNS only',
  ],
  [
    'the value as a text',
    alias,
    [txt(alias.name, 'return.rollcall.net.')],
    'mismatch',
    'it was published as TXT, it has to be CNAME',
  ],
  [
    'one that leads back to itself',
    alias,
    [cname(alias.name, 'b.example.com'), cname('b.example.com', alias.name)],
    'mismatch',
    'the aliases (CNAME) lead in a circle: bounce.m.example.com → b.example.com → bounce.m.example.com',
  ],
  [
    'a wildcard CNAME',
    alias,
    [cname('*.m.example.com', 'parking.example.net')],
    'missing',
    'not found, what answers is the wildcard record *.m.example.com or one above it',
  ],
  // MX
  [
    'the MX records as they should be, and in any order',
    mx,
    [mailTo('mx2.rollcall.net', 20), mailTo('MX1.rollcall.net')],
    'ok',
    null,
  ],
  ['no MX record', mx, [], 'missing', 'not found'],
  [
    'mail that goes elsewhere',
    mx,
    [mailTo('a.example.net', 5), mailTo('b.example.net')],
    'mismatch',
    'mail goes to a.example.net, b.example.net and not to mx1.rollcall.net',
  ],
  ['another priority', mx, [mailTo('mx1.rollcall.net', 50)], 'mismatch', 'its priority is 50 instead of 10'],
  [
    'an MX without the dot at the end',
    mx,
    [mailTo('mx1.rollcall.net.example.com')],
    'mismatch',
    'it leads to mx1.rollcall.net.example.com: the domain was added behind the value, end the value with a dot',
  ],
  // DMARC
  ['a policy of their own', dmarc, [txt(dmarc.name, 'v=DMARC1;p=reject; rua=mailto:d@example.com')], 'ok', null],
  [
    'a policy of the domain above',
    dmarc,
    [txt('_dmarc.example.com', 'v=DMARC1; p=none')],
    'ok',
    'the policy at _dmarc.example.com covers it',
  ],
  [
    'two policies',
    dmarc,
    [txt(dmarc.name, 'v=DMARC1; p=none'), txt(dmarc.name, 'v=DMARC1; p=reject')],
    'conflict',
    '2 DMARC policies, receivers then follow none of them: keep one',
  ],
  [
    'a text that is no policy',
    dmarc,
    [txt(dmarc.name, 'hello')],
    'mismatch',
    'there is a TXT record, but no DMARC policy in it',
  ],
  [
    'a policy in quotation marks',
    dmarc,
    [txt(dmarc.name, '"v=DMARC1; p=none"')],
    'mismatch',
    'quotation marks became part of the value, enter it without them',
  ],
  [
    'a policy without one',
    dmarc,
    [txt(dmarc.name, 'v=DMARC1; rua=mailto:d@example.com')],
    'mismatch',
    'the policy lacks p=none, p=quarantine or p=reject',
  ],
]

describe('what is said of a record', () => {
  let dns: TestDns
  before(async () => {
    dns = await startTestDns()
  })
  after(() => dns.stop())

  const check = async (record: Expected, more: Partial<ResolverOptions> = {}, ms = 4000): Promise<Finding> => {
    const resolver = createResolver({
      servers: [dns.resolver],
      only: false,
      authorityPort: dns.port,
      allowPrivate: true,
      questionMs: 1000,
      staggerMs: 200,
      ...more,
    })
    const [finding] = await checkRecords(resolver, DOMAIN, [record], AbortSignal.timeout(ms))
    return finding!
  }
  beforeEach(() => {
    dns.reset()
    dns.zone('example.com', ['127.0.0.2', '127.0.0.3'])
    dns.zone('example.net', ['127.0.0.4'], [txt('k.other.example.net', dkim.value)])
    dns.zone('rollcall.net', ['127.0.0.4'])
  })

  for (const [what, expected, published, status, reason] of situations) {
    it(`${expected.purpose}: ${what}`, async () => {
      dns.publish('example.com', published)
      const finding = await check(expected)
      assert.deepEqual([finding.status, finding.reason], [status, reason])
      const throughResolver = await check(expected, { only: true })
      assert.deepEqual(
        [throughResolver.status, throughResolver.reason?.replace(/ \(as a DNS cache.*/, '') ?? null],
        [status, reason],
      )
    })
  }

  describe('where DNS itself is the matter', () => {
    it('finds a key in a delegated zone of its own', async () => {
      dns.publish('example.com', [
        { name: '_domainkey.m.example.com', type: 'NS', data: 'ns1._domainkey.m.example.com' },
        address('ns1._domainkey.m.example.com', '127.0.0.5'),
      ])
      dns.zone('_domainkey.m.example.com', ['127.0.0.5'], [rightKey])
      assert.deepEqual(await check(dkim), { status: 'ok', found: [dkim.value], reason: null })
      assert.ok(dns.asked.includes(`127.0.0.5 ${dkim.name} TXT`))
    })

    it('queries the names of a local zone at its server, and the others as before', async () => {
      const server = { address: '127.0.0.5', port: dns.port }
      const zones = [{ name: 'lab.example', server }]
      dns.zone(
        'lab.example',
        ['127.0.0.5'],
        [cname('a.lab.example', 'b.lab.example'), txt('b.lab.example', dkim.value)],
      )
      for (const [name, type] of [
        ['a.lab.example', 'TXT'],
        ['lab.example', 'NS'],
      ] as const)
        dns.keep(name, type, 60, [])
      for (const only of [false, true]) {
        const local = { ...dkim, name: 'a.lab.example' }
        assert.equal((await check(local, { zones, only })).status, 'ok')
        assert.notEqual((await check(local, { only })).status, 'ok')
        const deeper = [{ name: 'far.lab.example', server }]
        const missing = await check({ ...dkim, name: 'c.far.lab.example' }, { zones: deeper, only })
        assert.equal(missing.reason, 'not found', 'lab.example exists')
        dns.publish('example.com', [rightKey])
        assert.equal((await check(dkim, { zones, only })).status, 'ok')
      }
    })

    it('goes through several cuts, whose servers are named elsewhere', async () => {
      dns.publish('example.com', [{ name: 'm.example.com', type: 'NS', data: 'ns1.example.net' }])
      dns.zone(
        'm.example.com',
        ['127.0.0.4'],
        [{ name: '_domainkey.m.example.com', type: 'NS', data: 'ns1.rollcall.net' }],
      )
      dns.zone('_domainkey.m.example.com', ['127.0.0.4'], [rightKey])
      assert.equal((await check(dkim)).status, 'ok')
    })

    it('takes no addresses from a server that cannot know them', async () => {
      dns.publish('example.com', [
        { name: '_domainkey.m.example.com', type: 'NS', data: 'ns1.example.net' },
        address('ns1.example.net', '127.0.0.6'),
      ])
      dns.zone('_domainkey.m.example.com', ['127.0.0.4'], [rightKey])
      assert.equal((await check(dkim)).status, 'ok')
      assert.ok(!dns.asked.some(question => question.startsWith('127.0.0.6')))
    })

    it('asks every server that is given, and no other, where servers are given', async () => {
      dns.publish('example.com', [rightKey])
      assert.equal((await check(dkim, { only: true })).status, 'ok')
      assert.deepEqual([...new Set(dns.asked.map(question => question.split(' ')[0]))], ['127.0.0.1'])
    })

    it('is content with one server of two that answers', async () => {
      dns.publish('example.com', [rightKey])
      for (const behaviour of ['silence', 'SERVFAIL', 'REFUSED'] as const) {
        dns.behave(({ server }) => (server === '127.0.0.2' ? behaviour : undefined))
        assert.equal((await check(dkim)).status, 'ok', behaviour)
      }
    })

    it('is not content while a server of the zone says otherwise', async () => {
      dns.publish('example.com', [rightKey])
      dns.behave(({ server, id, name, type }) => {
        if (server !== '127.0.0.3' || name !== dkim.name) return undefined
        const questions = [{ name, type, class: 'IN' } as never]
        return encode({ type: 'response', id, flags: AUTHORITATIVE_ANSWER | 3, questions })
      })
      const finding = await check(dkim, { questionMs: 6000, staggerMs: 3000 }, 8000)
      const reason = 'right at some name servers of the domain, but not yet at 127.0.0.3: not found'
      assert.deepEqual([finding.status, finding.reason], ['missing', reason])
    })

    it('asks again when a packet was lost', async () => {
      dns.publish('example.com', [rightKey])
      const lost = new Set<string>()
      dns.behave(({ server, name, type }) => {
        const question = `${server} ${name} ${type}`
        if (lost.has(question)) return undefined
        lost.add(question)
        return 'silence'
      })
      assert.equal((await check(dkim)).status, 'ok')
    })

    const servers = 'the name servers of example.com (ns1.example.com, ns2.example.com)'
    const failures = [
      ['silence', `${servers} did not answer in time, try again later`],
      ['SERVFAIL', `${servers} answered that they failed (SERVFAIL), try again later`],
      ['REFUSED', `${servers} refused to answer, try again later`],
    ] as const
    for (const [behaviour, reason] of failures) {
      it(`distinguishes ${behaviour} from a missing record`, async () => {
        dns.behave(({ server, name }) => (server !== '127.0.0.1' && name === dkim.name ? behaviour : undefined))
        assert.deepEqual(await check(dkim), { status: 'error', found: [], reason })
      })
    }

    it('finds aliases in a circle where servers that follow them just fail', async () => {
      dns.publish('example.com', [cname(dkim.name, 'a.example.com'), cname('a.example.com', dkim.name)])
      dns.behave(({ type }) => (type === 'TXT' ? 'SERVFAIL' : undefined))
      const { status, reason } = await check(dkim, { only: true })
      assert.equal(status, 'mismatch')
      assert.match(reason ?? '', /^the aliases \(CNAME\) lead in a circle/)
    })

    it('reports servers that do not serve the zone', async () => {
      dns.reset()
      dns.zone('example.com', ['127.0.0.2'])
      dns.zone('m.example.com', ['127.0.0.4'])
      dns.publish('example.com', [
        { name: 'm.example.com', type: 'NS', data: 'ns1.m.example.com' },
        address('ns1.m.example.com', '127.0.0.2'),
      ])
      assert.deepEqual(await check(dkim), {
        status: 'error',
        found: [],
        reason: 'the name servers of m.example.com (ns1.m.example.com) do not serve it, try again later',
      })
    })

    it('reports that nothing listens', async () => {
      const reason = 'the DNS servers cannot be reached, try again later'
      assert.deepEqual(await check(dkim, { only: true, servers: [{ address: '127.0.0.1', port: 1 }] }), {
        status: 'error',
        found: [],
        reason,
      })
    })

    it('asks no more questions than one check may', async () => {
      dns.publish('example.com', [rightKey])
      const { status, reason } = await check(dkim, { budget: 2 })
      assert.deepEqual([status, reason?.includes('takes more DNS questions than one check may ask')], ['error', true])
      assert.ok(dns.asked.length <= 2, String(dns.asked))
    })

    it('asks no servers in private networks', async () => {
      dns.publish('example.com', [rightKey])
      const finding = await check(dkim, { allowPrivate: false })
      assert.equal(finding.status, 'error')
      assert.ok(dns.asked.every(question => question.startsWith('127.0.0.1 ')))
    })

    it('asks no servers at addresses that are not of the public internet', async () => {
      const servers = ['4000::1', '::ffff:8.8.8.8', '192.0.2.1', '64:ff9b::808:808', '2002:808:808::1']
      for (const address of servers) {
        dns.zone('example.com', [])
        dns.publish('example.com', [
          { name: 'example.com', type: 'NS', data: 'ns.example.com' },
          { name: 'ns.example.com', type: address.includes(':') ? 'AAAA' : 'A', data: address },
        ])
        const { reason } = await check(dkim, { allowPrivate: false })
        assert.equal(
          reason,
          'the name servers of example.com (ns.example.com) do not serve it, try again later',
          address,
        )
      }
    })

    it('reports a domain that does not exist', async () => {
      dns.reset()
      assert.deepEqual(await check(dkim), {
        status: 'missing',
        found: [],
        reason: 'example.com does not exist in DNS, it is not registered or has no name servers yet',
      })
    })

    it('fetches over TCP what does not fit a packet', async () => {
      const others = Array.from({ length: 20 }, (_, index) => txt(DOMAIN, `other text ${index} ${'x'.repeat(200)}`))
      dns.publish('example.com', [...others, txt(DOMAIN, spf.value)])
      const overTcp: boolean[] = []
      dns.behave(({ tcp, type }) => {
        if (type === 'TXT') overTcp.push(tcp)
        return undefined
      })
      const finding = await check(spf)
      assert.equal(finding.status, 'ok')
      assert.ok(overTcp.includes(true) && overTcp.includes(false))
      assert.equal(finding.found.length, 10)
    })

    it('speaks without EDNS to servers that do not know it', async () => {
      dns.publish('example.com', [rightKey])
      dns.behave(({ edns, tcp }) => (edns && !tcp ? 'FORMERR' : undefined))
      assert.equal((await check(alias)).status, 'missing')
    })

    it('says how long others may see an old value', async () => {
      dns.publish('example.com', [rightKey])
      dns.keep(dkim.name, 'TXT', 3300, [txt(dkim.name, 'v=DKIM1; p=OLD')])
      assert.deepEqual(await check(dkim), {
        status: 'ok',
        found: [dkim.value],
        reason: 'right at the name servers of the domain, elsewhere DNS may give the old value for up to 55 minutes',
      })
      dns.keep(dkim.name, 'TXT', 40, [])
      assert.equal(
        (await check(dkim)).reason,
        'right at the name servers of the domain, elsewhere DNS may say that there is none for up to 40 seconds',
      )
    })

    it('says that a wrong value may be an old one, where only a cache can be asked', async () => {
      dns.publish('example.com', [rightKey])
      dns.keep(dkim.name, 'TXT', 7200, [txt(dkim.name, 'v=DKIM1; p=OLD')])
      const { reason } = await check(dkim, { only: true })
      assert.match(reason ?? '', /\(as a DNS cache has it, a change may take up to 2 hours to show\)$/)
    })

    it('ends in time, whatever is left to ask', async () => {
      dns.behave(() => 'silence')
      const finding = await check(dkim, {}, 300)
      assert.deepEqual(finding, {
        status: 'error',
        found: [],
        reason: 'the DNS servers did not answer in time, try again later',
      })
    })

    it('shows texts of strangers without what people cannot see, and not all of them', async () => {
      const texts = Array.from({ length: 30 }, (_, index) => ({
        name: dkim.name,
        type: 'TXT',
        data: [`${index}\u0000\u202e${'x'.repeat(200)}`],
      }))
      dns.publish('example.com', texts)
      const { found } = await check(dkim)
      assert.equal(found.length, 10)
      assert.ok(found.every(text => /^\d+\?\?x+$/.test(text)))
    })
  })

  describe('whatever a server sends', () => {
    const hostile = async (bytes: (question: { id: number; name: string }) => Buffer) => {
      dns.behave(({ server, id, name }) => (server === '127.0.0.2' ? bytes({ id, name }) : undefined))
      dns.zone('example.com', ['127.0.0.2'])
      return check(dkim, { questionMs: 150, staggerMs: 40 }, 1000)
    }
    const header = (id: number, rest: Uint8Array) => {
      const start = Buffer.alloc(2)
      start.writeUInt16BE(id)
      return Buffer.concat([start, rest])
    }

    it('is a finding when it is no DNS at all', async () => {
      const anyBytes = fc.uint8Array({ minLength: 0, maxLength: 600 })
      await fc.assert(
        fc.asyncProperty(anyBytes, fc.boolean(), async (rest, hasId) => {
          const finding = await hostile(({ id }) => (hasId ? header(id, rest) : Buffer.from(rest)))
          assert.equal(finding.status, 'error')
        }),
        { numRuns: 60 },
      )
    })

    it('is a finding when an answer was damaged on its way', async () => {
      const damage = fc.array(fc.tuple(fc.nat(700), fc.nat(255)), { minLength: 1, maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(damage, async changes => {
          const finding = await hostile(({ id, name }) => {
            const reply = encode({
              type: 'response',
              id,
              flags: AUTHORITATIVE_ANSWER,
              questions: [{ name, type: 'TXT', class: 'IN' }],
              answers: [{ name, type: 'TXT', class: 'IN', ttl: 60, data: strings(dkim.value) }],
            })
            for (const [at, byte] of changes) if (at >= 2 && at < reply.length) reply[at] = byte
            return reply
          })
          assert.ok(['ok', 'missing', 'mismatch', 'conflict', 'error'].includes(finding.status))
        }),
        { numRuns: 150 },
      )
    })
  })
})
