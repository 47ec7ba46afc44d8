import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startTestDns, type TestDns, type ZoneRecord } from '@rollcall/testing/dns'
import { startTestMailgun, type TestMailgun } from '@rollcall/testing/mailgun'
import { MongoClient } from 'mongodb'
import { type Api, bodyOf, makeToken } from '../api.ts'
import { startStack, type TestStack } from '../stack.ts'

type DnsRecord = {
  type: string
  name: string
  value: string
  priority?: number
  purpose: string
  required: boolean
  status: string
  found: string[]
  reason: string | null
  checkedAt: string | null
}
type Domain = {
  _id: string
  id: string
  domain: string
  status: string
  verified: boolean
  verifiedAt: string | null
  lastCheckedAt: string | null
  sendingRecords: DnsRecord[]
  receivingRecords: DnsRecord[]
  recommendedRecords: DnsRecord[]
  provider: string
}
type Page = { docs: Domain[]; totalDocs: number }
type Refusal = { message: string; path?: string }

const unknownId = 'f'.repeat(24)
const domainsPath = '/api/emails/domains'
const providerPath = '/api/emails/provider'

describe('sending domains', () => {
  const started = new AsyncDisposableStack()
  let stack: TestStack
  let dns: TestDns
  let mailgun: TestMailgun
  let owner: Api
  before(async () => {
    dns = await startTestDns()
    started.defer(dns.stop)
    mailgun = await startTestMailgun()
    started.defer(mailgun.stop)
    const settings = {
      DNS_SERVERS: `127.0.0.2:${dns.port}`,
      MAILGUN_US_URL: mailgun.url,
      MAILGUN_EU_URL: mailgun.url,
      REGISTRATION: 'open',
    }
    stack = await startStack({ settings })
    started.defer(stack.stop)
    owner = stack.owner
  })
  after(() => started.disposeAsync())
  beforeEach(() => {
    dns.behave()
    mailgun.fail()
  })

  let number = 0
  /** Returns an unused name in an empty zone. */
  const newName = () => {
    const zone = `example${number++}.com`
    dns.zone(zone, ['127.0.0.2'])
    return `m.${zone}`
  }
  const add = (api = owner, name = newName()) => bodyOf(api.post<Domain>(domainsPath, { domain: name }), 201)
  const verify = <Body = Domain>(id: string, api = owner) => api.post<Body>(`${domainsPath}/${id}/verify`)
  const check = (id: string) => bodyOf(owner.post<Domain>(`${domainsPath}/${id}/check`))
  const rotate = <Body = Domain>(id: string) => owner.post<Body>(`${domainsPath}/${id}/rotate-dkim`)
  const get = (id: string, api = owner) => bodyOf(api.get<Domain>(`${domainsPath}/${id}`))

  const zoneRecord = ({ type, name, value, priority }: DnsRecord): ZoneRecord => {
    if (type === 'TXT') return { type, name, data: value.match(/.{1,255}/g) }
    return { type, name, data: type === 'MX' ? { preference: priority, exchange: value } : value }
  }
  /** Publishes these records of a domain and nothing else. */
  const publish = ({ domain }: Domain, records: DnsRecord[]) =>
    dns.publish(domain.replace('m.', ''), records.map(zoneRecord))
  const addVerified = async () => {
    const domain = await add()
    publish(domain, domain.sendingRecords)
    return bodyOf(verify(domain.id))
  }
  let people = 0
  /** Returns the owner of a new organization. */
  const stranger = async (): Promise<Api> => {
    const account = { name: 'Stranger', email: `s${people++}@example.com`, password: 'made for tests only' }
    const { token } = await bodyOf(stack.api.post<{ token: string }>('/api/auth/register', account), 201)
    return stack.api.as(token)
  }
  const inDatabase = async <T>(work: (client: MongoClient) => Promise<T>): Promise<T> => {
    await using client = new MongoClient(stack.backing.MONGODB_URL)
    return await work(client)
  }
  const eventsOf = (id: string) =>
    inDatabase(async client => {
      const outbox = client.db(`${stack.namespace}rollcall_messaging`).collection('outbox')
      const entries = await outbox.find({ 'event.subject': id }).sort({ at: 1 }).toArray()
      return entries.map(({ event }) => event as { type: string; data: Record<string, unknown> })
    })
  const verificationsOf = async (id: string) =>
    (await eventsOf(id)).filter(({ type }) => type === 'email.domain.verified')

  describe('201', () => {
    it('answers the created domain with the records to publish', async () => {
      const name = newName()
      const domain = await add(owner, name)
      assert.deepEqual(
        [domain.domain, domain.status, domain.verified, domain.verifiedAt, domain.lastCheckedAt, domain.provider],
        [name, 'pending', false, null, null, 'self-hosted'],
      )
      const selector = domain.sendingRecords.find(({ purpose }) => purpose === 'dkim')!.name.split('.')[0]
      const shown = (records: DnsRecord[]) =>
        records.map(({ type, name, value, purpose, required }) => [
          type,
          name,
          purpose === 'dkim' ? value.slice(0, 16) : value,
          purpose,
          required,
        ])
      assert.deepEqual(shown(domain.sendingRecords), [
        ['TXT', name, 'v=spf1 include:_spf.mail.rollcall.test ~all', 'spf', true],
        ['CNAME', `bounce.${name}`, 'bounce.mail.rollcall.test', 'return_path', true],
        ['TXT', `${selector}._domainkey.${name}`, 'v=DKIM1; k=rsa; ', 'dkim', true],
      ])
      assert.deepEqual(shown(domain.receivingRecords), [['MX', name, 'mx.mail.rollcall.test', 'mx', false]])
      assert.equal(domain.receivingRecords[0]?.priority, 10)
      assert.deepEqual(shown(domain.recommendedRecords), [
        ['TXT', `_dmarc.${name}`, 'v=DMARC1; p=none', 'dmarc', false],
      ])
      const all = [domain.sendingRecords, domain.receivingRecords, domain.recommendedRecords].flat()
      assert.ok(all.every(({ status, found, reason }) => status === 'unknown' && found.length === 0 && reason === null))
      assert.deepEqual(await get(domain.id), domain)
    })

    it('creates DKIM keys of 2048 bits, and stores the private key only encrypted', async () => {
      const { id, sendingRecords } = await add()
      const value = sendingRecords.find(({ purpose }) => purpose === 'dkim')!.value
      assert.equal(Buffer.from(value.split('p=')[1]!, 'base64').length, 294)
      await inDatabase(async client => {
        const stored = await client.db(`${stack.namespace}rollcall_messaging`).collection('domains').find().toArray()
        const text = JSON.stringify(stored)
        assert.ok(text.includes(id) && !text.includes('PRIVATE KEY'))
      })
      assert.ok(!JSON.stringify(await get(id)).includes('privateKey'))
    })

    for (const [given, stored] of [
      ['  M.Upper1.COM. ', 'm.upper1.com'],
      ['bücher-laden.de', 'xn--bcher-laden-thb.de'],
      ['a.b.example.co.uk', 'a.b.example.co.uk'],
    ] as const) {
      it(`takes ${JSON.stringify(given)} for ${stored}`, async () => {
        assert.equal((await add(owner, given)).domain, stored)
      })
    }

    it('allows two organizations to add one domain, each with its own selectors', async () => {
      const name = newName()
      const [mine, theirs] = [await add(owner, name), await add(await stranger(), name)]
      const keyOf = ({ sendingRecords }: Domain) => sendingRecords.find(({ purpose }) => purpose === 'dkim')!.name
      assert.notEqual(keyOf(mine), keyOf(theirs))
      publish(mine, [...mine.sendingRecords, ...theirs.sendingRecords.filter(({ purpose }) => purpose === 'dkim')])
      await bodyOf(verify(mine.id))
    })
  })

  describe('200', () => {
    it('lists domains, newest first, by the shared parameters', async () => {
      const api = await stranger()
      const [first, second] = [await add(api), await add(api)]
      const page = await bodyOf(api.get<Page>(domainsPath))
      assert.deepEqual([page.totalDocs, page.docs], [2, [second, first]])
      const filtered = await bodyOf(api.get<Page>(domainsPath, { filter: { domain: first.domain, status: 'pending' } }))
      assert.deepEqual(filtered.docs, [first])
      const byRecord = { 'sendingRecords.status': 'unknown', verified: false }
      assert.equal((await bodyOf(api.get<Page>(domainsPath, { filter: byRecord, sort: { verified: 1 } }))).totalDocs, 2)
      const byName = { 'sendingRecords.name': first.sendingRecords[1]!.name }
      assert.deepEqual((await bodyOf(api.get<Page>(domainsPath, { filter: byName }))).docs, [first])
      const all = await bodyOf(api.get<Domain[]>(domainsPath, { pagination: 'false', sort: { domain: 1 } }))
      assert.equal(all.length, 2)
      const some = await bodyOf(api.get<Page>(domainsPath, { projection: { domain: 1 } }))
      assert.deepEqual(Object.keys(some.docs[0]!), ['_id', 'id', 'domain'])
    })

    it('verifies a domain whose sending records are correct, with one event', async () => {
      const domain = await add()
      publish(domain, domain.sendingRecords)
      const verified = await bodyOf(verify(domain.id))
      assert.deepEqual([verified.status, verified.verified], ['verified', true])
      assert.ok(verified.verifiedAt && verified.lastCheckedAt)
      assert.ok(verified.sendingRecords.every(({ status, reason }) => status === 'ok' && reason === null))
      assert.equal(verified.receivingRecords[0]?.status, 'missing')
      assert.deepEqual(await get(domain.id), verified)
      const again = await bodyOf(verify(domain.id))
      assert.equal(again.verifiedAt, verified.verifiedAt)
      const [event, ...others] = await verificationsOf(domain.id)
      assert.deepEqual([event?.type, others], ['email.domain.verified', []])
      const { actor, ...data } = event!.data
      assert.deepEqual(data, { domainId: domain.id, domain: domain.domain, verifiedAt: verified.verifiedAt })
      assert.ok(actor)
    })

    it('publishes one event for concurrent verifications', async () => {
      const domain = await add()
      publish(domain, domain.sendingRecords)
      const answers = await Promise.all(Array.from({ length: 5 }, () => verify(domain.id)))
      assert.ok(answers.every(({ status }) => status === 200 || status === 409))
      assert.ok(answers.some(({ status }) => status === 200))
      assert.equal((await verificationsOf(domain.id)).length, 1)
    })

    it('verifies what only differs in case, white space and order', async () => {
      const domain = await add()
      const loose = domain.sendingRecords.map(record => {
        if (record.purpose === 'spf') return { ...record, value: 'V=SPF1  a include:_SPF.mail.rollcall.test. -all' }
        if (record.purpose !== 'dkim') return { ...record, value: record.value.toUpperCase() }
        return { ...record, value: `p=${record.value.split('p=')[1]};k=RSA` }
      })
      publish(domain, loose)
      await bodyOf(verify(domain.id))
    })

    it('checks without changing the status', async () => {
      const domain = await add()
      publish(domain, domain.sendingRecords)
      const checked = await check(domain.id)
      assert.deepEqual([checked.status, checked.verified, checked.verifiedAt], ['pending', false, null])
      assert.ok(checked.lastCheckedAt)
      assert.ok(checked.sendingRecords.every(({ status }) => status === 'ok'))
      publish(domain, [])
      const { sendingRecords } = await check(domain.id)
      assert.ok(sendingRecords.every(({ status, reason }) => status === 'missing' && reason === 'not found'))
      assert.deepEqual(
        (await eventsOf(domain.id)).map(({ type }) => type),
        ['email.domain.created', 'email.domain.checked', 'email.domain.checked'],
      )
    })

    it('rotates the DKIM key: both are required until the new one verifies, then only the new one', async () => {
      const verified = await addVerified()
      const rotated = await bodyOf(rotate(verified.id))
      const keys = rotated.sendingRecords.filter(({ purpose }) => purpose === 'dkim')
      assert.equal(keys.length, 2)
      assert.deepEqual([rotated.status, keys[1]?.status], ['verified', 'unknown'])
      const refusal = await bodyOf(verify<Refusal>(verified.id), 400)
      assert.equal(refusal.message, `DKIM (TXT ${keys[1]!.name}): not found`)
      assert.equal((await get(verified.id)).status, 'verified')
      publish(
        rotated,
        rotated.sendingRecords.filter(record => record !== keys[0]),
      )
      const done = await bodyOf(verify(verified.id))
      assert.deepEqual(
        done.sendingRecords.filter(({ purpose }) => purpose === 'dkim').map(({ name }) => name),
        [keys[1]!.name],
      )
    })

    it('rotates a key that never signed by replacing it', async () => {
      const domain = await add()
      const rotated = await bodyOf(rotate(domain.id))
      assert.equal(rotated.sendingRecords.length, domain.sendingRecords.length)
      assert.notDeepEqual(rotated.sendingRecords, domain.sendingRecords)
    })

    it('deletes and returns a domain; its name is free again', async () => {
      const domain = await add()
      assert.deepEqual(await bodyOf(owner.delete(`${domainsPath}/${domain.id}`)), domain)
      await bodyOf(owner.get(`${domainsPath}/${domain.id}`), 404)
      await add(owner, domain.domain)
    })

    it('answers, chooses and removes the provider, never showing its key', async () => {
      const api = await stranger()
      assert.deepEqual(await bodyOf(api.get(providerPath)), { kind: 'self-hosted', configured: true })
      const settings = { kind: 'mailgun', apiKey: mailgun.apiKey, region: 'eu', domain: 'Mail.Example.org' }
      assert.deepEqual(await bodyOf(api.put(providerPath, settings)), { success: true, message: 'updated' })
      const { webhookUrl } = await bodyOf(api.get<{ webhookUrl: string }>(providerPath))
      assert.match(new URL(webhookUrl).pathname, /^\/api\/emails\/provider\/webhook\/[0-9a-f]{24}\/[\w-]+$/)
      const shown = { kind: 'mailgun', configured: true, region: 'eu', domain: 'mail.example.org', webhookUrl }
      assert.deepEqual(await bodyOf(api.get(providerPath)), shown)
      await bodyOf(api.put(providerPath, { kind: 'mailgun', region: 'us' }))
      const report = async (key: string) => {
        const timestamp = String(Math.floor(Date.now() / 1000))
        const signature = createHmac('sha256', key).update(`${timestamp}token`).digest('hex')
        const body = { signature: { timestamp, token: 'token', signature }, 'event-data': { event: 'delivered' } }
        const path = new URL(webhookUrl).pathname
        const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
        const answer = await fetch(stack.urls[0] + path, init)
        return [answer.status, answer.headers.get('ratelimit-limit'), await answer.text()]
      }
      assert.deepEqual(await report('signing key'), [401, '600', 'Unauthorized'], 'there is no key')
      await bodyOf(api.put(providerPath, { kind: 'mailgun', webhookSigningKey: 'signing key' }))
      assert.deepEqual(await report('another key'), [401, '600', 'Unauthorized'])
      assert.deepEqual(await report('signing key'), [200, '600', '{"success":true}'])
      assert.deepEqual(await report('signing key'), [401, '600', 'Unauthorized'], 'it was repeated')
      assert.deepEqual(await bodyOf(api.get(providerPath)), { ...shown, region: 'us' })
      assert.deepEqual(await bodyOf(api.delete(providerPath)), { ...shown, region: 'us' })
      assert.deepEqual(await bodyOf(api.get(providerPath)), { kind: null, configured: false })
      await bodyOf(api.put(providerPath, { kind: 'self-hosted' }))
      assert.deepEqual(await bodyOf(api.get(providerPath)), { kind: 'self-hosted', configured: true })
      await inDatabase(async client => {
        const stored = await client.db(`${stack.namespace}rollcall_messaging`).collection('providers').find().toArray()
        assert.ok(!JSON.stringify(stored).includes(mailgun.apiKey))
        assert.ok(!JSON.stringify(stored).includes('signing key'))
      })
    })

    it('adds, verifies, rotates and deletes at the hosted provider', async () => {
      const api = await stranger()
      await bodyOf(api.put(providerPath, { kind: 'mailgun', apiKey: mailgun.apiKey }))
      const domain = await add(api)
      assert.equal(domain.provider, 'mailgun')
      assert.deepEqual(
        domain.sendingRecords.map(({ type, purpose }) => `${type} ${purpose}`),
        ['TXT spf', 'TXT dkim'],
      )
      assert.deepEqual(
        domain.receivingRecords.map(({ name, value }) => [name, value]),
        [
          [domain.domain, 'mxa.mailgun.org'],
          [domain.domain, 'mxb.mailgun.org'],
        ],
      )
      assert.deepEqual(
        domain.recommendedRecords.map(({ purpose }) => purpose),
        ['tracking', 'dmarc'],
      )
      publish(domain, domain.sendingRecords)
      const refusal = await bodyOf(verify<Refusal>(domain.id, api), 400)
      assert.deepEqual(refusal, {
        success: false,
        message: 'every record is correct, but the mail provider does not see them all yet: try again in a few minutes',
      })
      const there = mailgun.domains.get(domain.domain)!
      there.state = 'active'
      assert.equal((await bodyOf(verify(domain.id, api))).status, 'verified')
      const rotated = await bodyOf(api.post<Domain>(`${domainsPath}/${domain.id}/rotate-dkim`))
      publish(rotated, rotated.sendingRecords)
      await bodyOf(verify(domain.id, api))
      assert.deepEqual(
        there.keys.map(({ active }) => active),
        [true, true],
      )
      await bodyOf(api.delete(`${domainsPath}/${domain.id}`))
      assert.ok(!mailgun.domains.has(domain.domain))
    })
  })

  describe('400', () => {
    const wrongNames: [given: unknown, message: string][] = [
      [undefined, 'missing field -> domain'],
      [null, 'invalid field -> domain: must be a string'],
      ['', 'invalid field -> domain: must not be empty'],
      ['   ', 'invalid field -> domain: must not be empty'],
      [7, 'invalid field -> domain: must be a string'],
      [['example.com'], 'invalid field -> domain: must be a string'],
      [{}, 'invalid field -> domain: must be a string'],
      ['com', 'invalid field -> domain: is not a domain that can be registered, nor one below it'],
      ['co.uk', 'invalid field -> domain: is not a domain that can be registered, nor one below it'],
      ['localhost', 'invalid field -> domain: is not a domain that can be registered, nor one below it'],
      ['m.example.internal', 'invalid field -> domain: is not a domain that can be registered, nor one below it'],
      ['192.0.2.1', 'invalid field -> domain: is an IP address'],
      ['http://example.com', 'invalid field -> domain: is not a domain name'],
      ['someone@example.com', 'invalid field -> domain: is not a domain name'],
      ['example.com/path', 'invalid field -> domain: is not a domain name'],
      ['exa mple.com', 'invalid field -> domain: is not a domain name'],
      ['a..example.com', 'invalid field -> domain: is not a domain name'],
      ['.example.com', 'invalid field -> domain: is not a domain name'],
      ['example.com..', 'invalid field -> domain: is not a domain name'],
      ['*.example.com', 'invalid field -> domain: is not a domain name'],
      ['-m.example.com', 'invalid field -> domain: is not a domain name'],
      [`${'a'.repeat(64)}.example.com`, 'invalid field -> domain: is not a domain name'],
      [`${'a.'.repeat(120)}com`, 'invalid field -> domain: is longer than 200 characters'],
      ['a'.repeat(300), 'invalid field -> domain: at most 255 characters'],
    ]
    for (const [given, message] of wrongNames) {
      it(`refuses ${JSON.stringify(given)?.slice(0, 40)} as a domain`, async () => {
        const refusal = await bodyOf(owner.post<Refusal>(domainsPath, { domain: given }), 400)
        assert.deepEqual(refusal, { error: true, message, path: 'domain' })
      })
    }

    it('refuses fields that there are not', async () => {
      const refusal = await bodyOf(owner.post<Refusal>(domainsPath, { domain: 'example.com', verified: true }), 400)
      assert.deepEqual(refusal, { error: true, message: 'extra field -> verified', path: 'verified' })
      const { id } = await add()
      for (const action of ['verify', 'check', 'rotate-dkim']) {
        const { path } = await bodyOf(owner.post<Refusal>(`${domainsPath}/${id}/${action}`, { force: true }), 400)
        assert.equal(path, 'force')
      }
    })

    it('refuses malformed ids and invalid list parameters', async () => {
      for (const call of [
        owner.get<Refusal>(`${domainsPath}/nonsense`),
        owner.delete<Refusal>(`${domainsPath}/nonsense`),
        owner.post<Refusal>(`${domainsPath}/nonsense/verify`),
      ]) {
        assert.deepEqual(await bodyOf(call, 400), {
          error: true,
          message: 'invalid field -> id: must be a 24-character hex id',
          path: 'id',
        })
      }
      for (const field of ['dkimKeys', 'senders', 'revision', 'organization', 'dkimKeys.privateKey', 'nextCheckAt']) {
        for (const parameter of ['filter', 'sort', 'projection']) {
          const { path } = await bodyOf(owner.get<Refusal>(domainsPath, { [parameter]: { [field]: 1 } }), 400)
          assert.equal(path, parameter, field)
        }
      }
    })

    it('does not verify without published records, names each, and changes nothing', async () => {
      const domain = await add()
      publish(domain, [])
      const refusal = await bodyOf(verify<Refusal>(domain.id), 400)
      const [spf, bounce, dkim] = domain.sendingRecords.map(({ name }) => name)
      assert.deepEqual(refusal, {
        success: false,
        message: `SPF (TXT ${spf}): not found; return path (CNAME ${bounce}): not found; DKIM (TXT ${dkim}): not found`,
      })
      const { status, verified, sendingRecords, lastCheckedAt } = await get(domain.id)
      assert.deepEqual([status, verified], ['pending', false])
      assert.ok(lastCheckedAt && sendingRecords.every(record => record.status === 'missing' && record.checkedAt))
      assert.deepEqual(await verificationsOf(domain.id), [])
    })

    it('names the likely mistake', async () => {
      const domain = await add()
      const zone = domain.domain.replace('m.', '')
      publish(
        domain,
        domain.sendingRecords.map(record =>
          record.purpose === 'dkim' ? { ...record, name: `${record.name}.${zone}` } : record,
        ),
      )
      const { message } = await bodyOf(verify<Refusal>(domain.id), 400)
      const { name } = domain.sendingRecords.find(({ purpose }) => purpose === 'dkim')!
      const short = name.slice(0, -zone.length - 1)
      assert.equal(
        message,
        `DKIM (TXT ${name}): it was published at ${name}.${zone}: the domain is added to names there, so enter "${short}" as the name`,
      )
    })

    it('distinguishes DNS that does not answer from missing records', async () => {
      const domain = await add()
      publish(domain, domain.sendingRecords)
      dns.behave(({ type }) => (type === 'CNAME' ? 'SERVFAIL' : undefined))
      const { message } = await bodyOf(verify<Refusal>(domain.id), 400)
      assert.equal(
        message,
        `return path (CNAME bounce.${domain.domain}): the DNS servers answered that they failed (SERVFAIL), try again later`,
      )
      const statuses = (await get(domain.id)).sendingRecords.map(({ status }) => status)
      assert.deepEqual(statuses, ['ok', 'error', 'ok'])
      dns.behave(() => 'silence')
      await bodyOf(verify<Refusal>(domain.id), 400) // not 503 after the deadline
    })

    it('leaves a verified domain verified when its records vanish', async () => {
      const verified = await addVerified()
      publish(verified, [])
      const { message } = await bodyOf(verify<Refusal>(verified.id), 400)
      assert.match(message, /SPF .*: not found; .*DKIM .*: not found/)
      const { status, verified: isVerified, verifiedAt, sendingRecords } = await get(verified.id)
      assert.deepEqual([status, isVerified, verifiedAt], ['verified', true, verified.verifiedAt])
      assert.ok(sendingRecords.every(record => record.status === 'missing'))
    })

    it('adds and verifies nothing without a provider', async () => {
      const api = await stranger()
      const { id } = await add(api)
      await bodyOf(api.delete(providerPath))
      const refusal = { success: false, message: 'no mail provider is configured for the organization' }
      assert.deepEqual(await bodyOf(api.post(domainsPath, { domain: newName() }), 400), refusal)
      assert.deepEqual(await bodyOf(verify<Refusal>(id, api), 400), refusal)
      assert.deepEqual(await bodyOf(api.post(`${domainsPath}/${id}/rotate-dkim`), 400), refusal)
      assert.equal((await bodyOf(api.get<Page>(domainsPath))).totalDocs, 1)
    })

    it('does not verify with another provider than the domain was added at', async () => {
      const api = await stranger()
      const { id } = await add(api)
      await bodyOf(api.put(providerPath, { kind: 'mailgun', apiKey: mailgun.apiKey }))
      const { message } = await bodyOf(verify<Refusal>(id, api), 400)
      assert.match(
        message,
        /^the domain was added with self-hosted, but the organization's mail provider is now mailgun/,
      )
    })

    const wrongSettings: [given: object, message: string][] = [
      [{}, 'missing field -> kind'],
      [{ kind: 'post' }, 'invalid field -> kind: must be one of self-hosted, mailgun'],
      [{ kind: null }, 'invalid field -> kind: must be a string'],
      [{ kind: 'mailgun' }, 'missing field -> apiKey'],
      [{ kind: 'mailgun', apiKey: '' }, 'invalid field -> apiKey: must not be empty'],
      [{ kind: 'mailgun', apiKey: 5 }, 'invalid field -> apiKey: must be a string'],
      [{ kind: 'mailgun', apiKey: 'k', region: 'mars' }, 'invalid field -> region: must be one of us, eu'],
      [
        { kind: 'mailgun', apiKey: 'k', domain: 'com' },
        'invalid field -> domain: is not a domain that can be registered, nor one below it',
      ],
      [{ kind: 'mailgun', apiKey: 'k', url: 'http://localhost' }, 'extra field -> url'],
      [{ kind: 'self-hosted', apiKey: 'k' }, 'extra field -> apiKey'],
      [{ kind: 'self-hosted', region: 'us' }, 'extra field -> region'],
      [{ kind: 'self-hosted', domain: 'example.com' }, 'extra field -> domain'],
    ]
    for (const [given, message] of wrongSettings) {
      it(`refuses ${JSON.stringify(given)} as a provider`, async () => {
        const path = message.replace(/^.*-> (\w+).*$/, '$1')
        assert.deepEqual(await bodyOf(owner.put(providerPath, given), 400), { error: true, message, path })
      })
    }

    it('keeps no key that the provider refuses', async () => {
      const refusal = await bodyOf(owner.put(providerPath, { kind: 'mailgun', apiKey: 'wrong' }), 400)
      assert.deepEqual(refusal, { success: false, message: 'the mail provider refuses the API key' })
      assert.deepEqual(await bodyOf(owner.get(providerPath)), { kind: 'self-hosted', configured: true })
    })
  })

  describe('401 and 403', () => {
    it('needs a credential', async () => {
      assert.equal((await stack.api.get(domainsPath)).text, 'Unauthorized')
    })

    it('needs the permission that the method asks for', async () => {
      const { id } = await add()
      const { api } = await makeToken(owner, { role: 'user' })
      await bodyOf(api.get(domainsPath))
      await bodyOf(api.get(`${domainsPath}/${id}`))
      const refused: [Promise<{ status: number; body: unknown }>, string][] = [
        [api.post(domainsPath, { domain: newName() }), 'email_domains.create'],
        [api.post(`${domainsPath}/${id}/verify`), 'email_domains.create'],
        [api.delete(`${domainsPath}/${id}`), 'email_domains.delete'],
        [api.get(providerPath), 'email_provider.read'],
        [api.put(providerPath, { kind: 'self-hosted' }), 'email_provider.update'],
        [api.delete(providerPath), 'email_provider.delete'],
      ]
      for (const [answer, permission] of refused) {
        const { status, body } = await answer
        assert.deepEqual([status, body], [403, { error: true, message: `Permission denied: ${permission}` }])
      }
    })
  })

  describe('404', () => {
    it('knows no domain of another organization', async () => {
      const api = await stranger()
      const { id } = await add(api)
      const calls = [
        (id: string) => owner.get(`${domainsPath}/${id}`),
        (id: string) => owner.delete(`${domainsPath}/${id}`),
        (id: string) => verify(id),
        (id: string) => owner.post(`${domainsPath}/${id}/check`),
        (id: string) => rotate(id),
      ]
      for (const call of calls) {
        const [foreign, unknown] = [await call(id), await call(unknownId)]
        assert.deepEqual([foreign.status, foreign.text], [404, unknown.text])
        assert.deepEqual(unknown.body, { error: true, message: 'domain not found' })
      }
      assert.equal((await get(id, api)).id, id)
    })

    it('removes no provider if there is none', async () => {
      const api = await stranger()
      await bodyOf(api.delete(providerPath))
      assert.deepEqual(await bodyOf(api.delete(providerPath), 404), { error: true, message: 'provider not found' })
    })
  })

  describe('409', () => {
    it('refuses a domain that the organization has, however it is written', async () => {
      const { domain } = await add()
      for (const name of [domain, ` ${domain.toUpperCase()}. `]) {
        const refusal = await bodyOf(owner.post(domainsPath, { domain: name }), 409)
        assert.deepEqual(refusal, { error: true, message: 'duplicate -> domain', path: 'domain' })
      }
    })

    it('adds a domain once, however many do so at the same time', async () => {
      const name = newName()
      const answers = await Promise.all(Array.from({ length: 5 }, () => owner.post(domainsPath, { domain: name })))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409])
    })

    it('keeps a domain while a sender uses it', async () => {
      const { id, domain } = await addVerified()
      const sender = { name: 'News', email: `news@${domain}`, delivery: 'provider' }
      const made = await bodyOf(owner.post<{ id: string }>('/api/emails/senders', sender), 201)
      const refusal = await bodyOf(owner.delete(`${domainsPath}/${id}`), 409)
      assert.deepEqual(refusal, { error: true, message: 'the domain is used by a sender' })
      await bodyOf(owner.delete(`/api/emails/senders/${made.id}`))
      await bodyOf(owner.delete(`${domainsPath}/${id}`))
    })

    it('makes no third key while the second waits for its record', async () => {
      const { id } = await addVerified()
      await bodyOf(rotate(id))
      const refusal = await bodyOf(rotate(id), 409)
      assert.deepEqual(refusal, { error: true, message: 'a new DKIM key is already waiting for its record' })
    })
  })

  describe('503', () => {
    it('stores nothing when the provider is down', async () => {
      const api = await stranger()
      await bodyOf(api.put(providerPath, { kind: 'mailgun', apiKey: mailgun.apiKey }))
      const down = { error: true, message: 'service unavailable' }
      for (const failure of ['silence', { status: 500, body: 'oh' }, { status: 200, body: '{"domain":' }] as const) {
        mailgun.fail(failure)
        const answer = await api.post(domainsPath, { domain: newName() })
        assert.deepEqual([answer.status, answer.body], [503, down])
        assert.ok(answer.headers.get('retry-after'))
      }
      mailgun.fail({ status: 502, body: '' })
      assert.deepEqual(await bodyOf(api.put(providerPath, { kind: 'mailgun', apiKey: 'other' }), 503), down)
      mailgun.fail()
      assert.equal((await bodyOf(api.get<Page>(domainsPath))).totalDocs, 0)
      await add(api)
    })
  })
})
