import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { HttpBody } from '@rollcall/contract'
import type { SetProviderRequest } from '@rollcall/protos/gen/messaging-v1.ts'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { startTestMailgun, type TestMailgun } from '@rollcall/testing/mailgun'
import { type TestContext, testContext } from '../../test/context.ts'
import { providers } from '../provider/provider.ts'
import type { DnsRecord, Domain } from './domain.model.ts'
import { acquireDomain, releaseDomain } from './domain-use.ts'
import { domains } from './domains.ts'

type Shown = Pick<Domain, 'domain' | 'status' | 'verified' | 'sendingRecords'> & { id: string }

describe('sending domains', () => {
  let dns: TestDns
  let mailgun: TestMailgun
  let test: TestContext
  before(async () => {
    dns = await startTestDns()
    mailgun = await startTestMailgun()
    test = await testContext({ DNS_SERVERS: `127.0.0.2:${dns.port}`, MAILGUN_US_URL: mailgun.url })
  })
  after(async () => {
    await test.stop()
    await mailgun.stop()
    await dns.stop()
  })
  beforeEach(() => {
    dns.behave()
    mailgun.fail()
  })

  const rpc = () => domains(test.context)
  const shown = async (answer: Promise<HttpBody>): Promise<Shown> => JSON.parse((await answer).data.toString())
  const get = (id: string) => shown(rpc().getDomain({ id }, test.call()))
  const verify = (id: string) => shown(rpc().verifyDomain({ id }, test.call()))
  const rotate = (id: string) => shown(rpc().rotateDkim({ id }, test.call()))
  const remove = (id: string) => shown(rpc().deleteDomain({ id }, test.call()))
  let number = 0
  const add = async (): Promise<Shown> => {
    const domain = `added${number++}.com`
    dns.zone(domain, ['127.0.0.2'])
    return shown(rpc().createDomain({ domain }, test.call()))
  }
  const publish = (zone: string, records: readonly DnsRecord[]) => {
    const data = ({ type, value }: DnsRecord) => (type === 'TXT' ? value.match(/.{1,255}/g) : value)
    dns.publish(
      zone,
      records.map(record => ({ name: record.name, type: record.type, data: data(record) })),
    )
  }
  const addPublished = async (): Promise<Shown> => {
    const domain = await add()
    publish(domain.domain, domain.sendingRecords)
    return domain
  }
  const choose = (settings: SetProviderRequest) => providers(test.context).setProvider(settings, test.call())

  describe('with concurrent changes', () => {
    it('a verification counts only for the records that it checked', async () => {
      const { id } = await addPublished()
      let rotated: Promise<unknown> | undefined
      let isRotated = false
      // The query for the CNAME is retried, which gives the rotation time to finish first.
      dns.behave(({ type }) => {
        if (type !== 'CNAME') return undefined
        rotated ??= rotate(id).finally(() => {
          isRotated = true
        })
        return isRotated ? undefined : 'silence'
      })
      await assert.rejects(verify(id), {
        code: 'domain.changed',
        message: 'the domain was changed concurrently, please try again',
      })
      await rotated
      const types = (await test.eventsOf(id)).map(({ type }) => type)
      assert.deepEqual(
        [(await get(id)).status, types],
        ['pending', ['email.domain.created', 'email.domain.key_rotated']],
      )
    })

    it('either a sender acquires a domain, or it is deleted', async () => {
      const { store } = test.context
      const collections = test.context.collections.of(test.organizationId)
      for (let round = 0; round < 5; round++) {
        const { id, domain } = await addPublished()
        await verify(id)
        const hold = store.transaction(tx => acquireDomain(collections, domain, tx))
        const [held, removed] = await Promise.allSettled([hold, remove(id)])
        assert.notEqual(held.status, removed.status)
        if (held.status === 'rejected') continue
        await assert.rejects(remove(id), { code: 'domain.in_use', message: 'the domain is used by a sender' })
        await store.transaction(tx => releaseDomain(collections, domain, tx))
        await remove(id)
      }
    })
  })

  it('stores nothing of an aborted check', async () => {
    const { id } = await addPublished()
    dns.behave(() => 'silence')
    const call = { ...test.call(), signal: AbortSignal.timeout(50) }
    await assert.rejects(rpc().checkDomain({ id }, call), { code: 'service.unavailable' })
    assert.ok((await get(id)).sendingRecords.every(({ status }) => status === 'unknown'))
  })

  it('acquires a domain only once it is verified, and still when it is degraded', async () => {
    const { store } = test.context
    const collections = test.context.collections.of(test.organizationId)
    const { id, domain } = await addPublished()
    const hold = () => store.transaction(tx => acquireDomain(collections, domain, tx))
    const refusal = {
      code: 'domain.not_verified',
      path: 'email',
      message: /the domain added\d+\.com is not verified$/,
    }
    await assert.rejects(hold(), refusal)
    await verify(id)
    await hold()
    await collections.domains.updateOne({ _id: id }, { $set: { status: 'degraded' } })
    await hold()
  })

  describe('at the hosted provider', () => {
    before(() => choose({ kind: 'mailgun', apiKey: mailgun.apiKey }))
    after(() => choose({ kind: 'self-hosted' }))

    it('a domain whose adding got no answer is reused by the next attempt', async () => {
      const name = `lost${number++}.com`
      mailgun.domains.set(name, { state: 'unverified', keys: [{ selector: 'k1', active: true }] })
      const made = await shown(rpc().createDomain({ domain: name }, test.call()))
      assert.ok(made.sendingRecords.some(record => record.name === `k1._domainkey.${name}`))
    })

    it('a verification that the provider does not confirm changes nothing, and can be retried', async () => {
      const { id, domain } = await addPublished()
      mailgun.fail({ status: 500, body: '' })
      await assert.rejects(verify(id), { code: 'service.unavailable' })
      mailgun.fail()
      await assert.rejects(verify(id), {
        code: 'domain.records_unseen',
        message: /the mail provider does not see them all yet/,
      })
      const types = (await test.eventsOf(id)).map(({ type }) => type)
      assert.deepEqual([(await get(id)).status, types], ['pending', ['email.domain.created']])
      mailgun.domains.get(domain)!.state = 'active'
      assert.equal((await verify(id)).status, 'verified')
    })

    it('a rotation without an answer of the provider leaves the records unchanged', async () => {
      const { id, sendingRecords } = await add()
      mailgun.fail({ status: 200, body: '{}' })
      await assert.rejects(rotate(id), { code: 'service.unavailable' })
      assert.deepEqual((await get(id)).sendingRecords, sendingRecords)
    })

    it('a domain is deleted also while the provider is down', async () => {
      const { id, domain } = await add()
      mailgun.fail({ status: 503, body: '' })
      await remove(id)
      await assert.rejects(get(id), { code: 'domain.not_found' })
      assert.ok(mailgun.domains.has(domain))
    })

    it('a domain of another organization there stays', async () => {
      const { id, domain } = await add()
      const other = await test.context.collections.of(test.organizationId).domains.findOne({ _id: id })
      const { _id, organization, ...rest } = other!
      const elsewhere = test.context.collections.of('e'.repeat(24)).domains
      await elsewhere.insertOne(rest)
      await remove(id)
      assert.ok(mailgun.domains.has(domain))
    })
  })
})
