import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startTestDns, type TestDns } from '@rollcall/testing/dns'
import { type TestContext, testContext } from '../../test/context.ts'
import { createDomain } from './create-domain.ts'
import type { DnsRecord, Domain } from './domain.model.ts'
import { checkDueDomains } from './domain-monitor.job.ts'
import { domains as handlers } from './domains.ts'

const HOUR = 3_600_000
const going = new AbortController().signal

describe('the monitor of verified domains', () => {
  let dns: TestDns
  let test: TestContext
  before(async () => {
    dns = await startTestDns()
    test = await testContext({ DNS_SERVERS: `127.0.0.2:${dns.port}` })
  })
  after(async () => {
    await test.stop()
    await dns.stop()
  })
  beforeEach(async () => {
    dns.behave()
    await test.context.collections.unscoped.domains.deleteMany({})
  })

  const read = async (id: string): Promise<Domain> => {
    const domain = await test.context.collections.of(test.organizationId).domains.findOne({ _id: id })
    assert.ok(domain)
    return domain
  }
  const publish = (domain: Domain, records: DnsRecord[]) =>
    dns.publish(
      domain.domain,
      records.map(({ type, name, value }) => ({ type, name, data: type === 'TXT' ? value.match(/.{1,255}/g) : value })),
    )
  const verify = (id: string) => handlers(test.context).verifyDomain({ id }, test.call())
  let number = 0
  const add = async (): Promise<Domain> => {
    const name = `monitored${number++}.com`
    dns.zone(name, ['127.0.0.2'])
    const { data } = await createDomain(test.context, { domain: name }, test.call())
    return read(JSON.parse(data.toString()).id)
  }
  const addVerified = async (): Promise<Domain> => {
    const domain = await add()
    publish(domain, domain.sendingRecords)
    await verify(String(domain._id))
    return read(String(domain._id))
  }
  const typesOf = async (id: string) => (await test.eventsOf(id)).map(({ type }) => type.replace('email.domain.', ''))
  /** Runs rounds of the monitor, each at the given hours after the domain was verified. */
  const roundsAt = async (domain: Domain, hours: number[]): Promise<Domain> => {
    for (const hour of hours) {
      const now = new Date(domain.verifiedAt!.getTime() + hour * HOUR)
      assert.equal(await checkDueDomains(test.context, now, going), 1, `at ${hour} h`)
    }
    return read(String(domain._id))
  }

  it('degrades a domain whose records vanished after several failures over a day, with one event', async () => {
    const domain = await addVerified()
    const id = String(domain._id)
    publish(domain, [])
    await assert.rejects(verify(id), {
      code: 'domain.records_wrong',
      message: /SPF .*: not found; .*DKIM .*: not found/,
    })
    assert.equal((await read(id)).status, 'verified')

    const failing = await roundsAt(domain, [6, 12, 18, 24])
    assert.deepEqual([failing.status, failing.failures], ['verified', 4])
    assert.deepEqual(failing.failingSince, new Date(domain.verifiedAt!.getTime() + 6 * HOUR))
    const degraded = await roundsAt(domain, [30])
    assert.deepEqual([degraded.status, degraded.verifiedAt], ['degraded', domain.verifiedAt])
    await roundsAt(domain, [36, 42])

    assert.deepEqual(await typesOf(id), ['created', 'verified', 'degraded'])
    const [, , { data }] = (await test.eventsOf(id)) as [unknown, unknown, { data: Record<string, string & string[]> }]
    assert.deepEqual([data.domainId, data.domain, data.reasons?.length], [id, domain.domain, 3])
    assert.equal(data.degradedAt, new Date(domain.verifiedAt!.getTime() + 30 * HOUR).toISOString())
  })

  it('never makes a domain verified; a good verify does', async () => {
    const domain = await addVerified()
    const id = String(domain._id)
    publish(domain, [])
    await roundsAt(domain, [6, 12, 18, 24, 30])
    publish(domain, domain.sendingRecords)
    const better = await roundsAt(domain, [36])
    assert.deepEqual([better.status, better.failures, better.failingSince], ['degraded', 0, null])
    await verify(id)
    assert.equal((await read(id)).status, 'verified')
    assert.deepEqual(await typesOf(id), ['created', 'verified', 'degraded', 'verified'])
  })

  it('does not degrade for many failures within a short time, nor for few over a long one', async () => {
    const domain = await addVerified()
    publish(domain, [])
    const now = new Date(domain.verifiedAt!.getTime() + 6 * HOUR)
    for (let round = 0; round < 6; round++) {
      await test.context.collections
        .of(test.organizationId)
        .domains.updateOne({ _id: domain._id }, { $set: { nextCheckAt: now } })
      await checkDueDomains(test.context, now, going)
    }
    assert.deepEqual(
      [(await read(String(domain._id))).status, (await read(String(domain._id))).failures],
      ['verified', 6],
    )

    const other = await addVerified()
    publish(other, [])
    await test.context.collections.unscoped.domains.deleteOne({ _id: domain._id })
    assert.equal((await roundsAt(other, [6, 100, 200])).status, 'verified')
    assert.equal((await roundsAt(other, [206])).status, 'degraded')
  })

  it('restarts counting after a successful check', async () => {
    const domain = await addVerified()
    publish(domain, [])
    await roundsAt(domain, [6, 12, 18])
    publish(domain, domain.sendingRecords)
    assert.equal((await roundsAt(domain, [24])).failures, 0)
    publish(domain, [])
    assert.equal((await roundsAt(domain, [30, 36, 42, 48])).status, 'verified')
    assert.equal((await roundsAt(domain, [54])).status, 'degraded')
  })

  it('counts DNS timeouts and errors neither as failure nor as success', async () => {
    const domain = await addVerified()
    publish(domain, [])
    await roundsAt(domain, [6, 12])
    dns.behave(() => 'SERVFAIL')
    const unknown = await roundsAt(domain, [18, 24, 30, 36, 42])
    assert.deepEqual([unknown.status, unknown.failures], ['verified', 2])
    assert.ok(unknown.sendingRecords.every(({ status }) => status === 'error'))
    dns.behave()
    assert.equal((await roundsAt(domain, [48, 54])).status, 'degraded')
  })

  it('does not require the record of a new key that is not active yet', async () => {
    const domain = await addVerified()
    await handlers(test.context).rotateDkim({ id: String(domain._id) }, test.call())
    const later = await roundsAt(domain, [6, 12, 18, 24, 30, 36])
    assert.deepEqual([later.status, later.failures, later.sendingRecords.at(-1)?.status], ['verified', 0, 'missing'])
  })

  it('skips domains that are pending or not due', async () => {
    await add()
    const { verifiedAt } = await addVerified()
    assert.equal(await checkDueDomains(test.context, new Date(verifiedAt!.getTime() + 5 * HOUR), going), 0)
    assert.equal(await checkDueDomains(test.context, new Date(verifiedAt!.getTime() + 7 * HOUR), going), 1)
  })

  it('checks a domain once, however many replicas run the round', async () => {
    const { verifiedAt, _id } = await addVerified()
    const now = new Date(verifiedAt!.getTime() + 6 * HOUR)
    const counts = await Promise.all([1, 2, 3].map(() => checkDueDomains(test.context, now, going)))
    assert.deepEqual(counts.sort(), [0, 0, 1])
    assert.deepEqual((await read(String(_id))).lastCheckedAt, now)
  })

  it('continues with the others when one cannot be checked', async () => {
    const [broken, fine] = [await addVerified(), await addVerified()]
    await test.context.collections.unscoped.domains.collection.updateOne(
      { _id: broken._id },
      { $set: { sendingRecords: null } },
    )
    const now = new Date(fine.verifiedAt!.getTime() + 7 * HOUR)
    await assert.rejects(checkDueDomains(test.context, now, going), { message: 'domains not checked: 1' })
    assert.deepEqual((await read(String(fine._id))).lastCheckedAt, now)
  })

  it('ends its round when the service stops', async () => {
    const { verifiedAt } = await addVerified()
    const now = new Date(verifiedAt!.getTime() + 7 * HOUR)
    assert.equal(await checkDueDomains(test.context, now, AbortSignal.abort()), 0)
  })
})
