import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { startTestMailgun, type TestMailgun } from '@rollcall/testing/mailgun'
import { createMailgun } from './mailgun.ts'

describe('the hosted provider', () => {
  let there: TestMailgun
  before(async () => {
    there = await startTestMailgun()
  })
  after(() => there.stop())
  beforeEach(() => {
    there.fail()
    there.domains.clear()
    there.requests.length = 0
  })
  const open = (apiKey = there.apiKey, answerMs = 5000) =>
    createMailgun({ apiUrl: there.url, apiKey }, { answerMs, callMs: 20_000 })
  const name = 'm.example.com'

  it('adds a domain, and returns its records by purpose', async () => {
    const { keys, ...records } = await open().addDomain(name, 'rc1-a')
    const value = 'k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC'
    const record = { type: 'TXT', name: `rc1-a._domainkey.${name}`, value, purpose: 'dkim' }
    assert.deepEqual(keys, [{ selector: 'rc1-a', record, privateKey: null }])
    const mx = (value: string) => ({ type: 'MX', name, value, priority: 10, purpose: 'mx' })
    assert.deepEqual(records, {
      sending: [{ type: 'TXT', name, value: 'v=spf1 include:mailgun.org ~all', purpose: 'spf' }],
      receiving: [mx('mxa.mailgun.org'), mx('mxb.mailgun.org')],
      recommended: [{ type: 'CNAME', name: `email.${name}`, value: 'mailgun.org', purpose: 'tracking' }],
    })
  })

  it('reuses an existing domain with its keys', async () => {
    await open().addDomain(name, 'first')
    const { keys } = await open().addDomain(name, 'second')
    assert.deepEqual(
      keys.map(({ selector }) => selector),
      ['first'],
    )
  })

  it('finds a key that an earlier attempt created without getting an answer', async () => {
    await open().addDomain(name, 'rc1-a')
    const added = await open().addKey(name, 'rc2-a')
    assert.deepEqual(await open().addKey(name, 'rc2-a'), added)
    assert.deepEqual(
      there.domains.get(name)!.keys.map(({ selector }) => selector),
      ['rc1-a', 'rc2-a'],
    )
    there.fail({ status: 400, body: '{"message":"too many keys"}', times: 1 })
    await assert.rejects(open().addKey(name, 'rc3-a'), { message: 'the mail provider says: too many keys' })
  })

  it('confirms what the provider sees, creates and activates keys, and removes', async () => {
    const mailgun = open()
    await mailgun.addDomain(name, 'rc1-a')
    assert.equal(await mailgun.confirmDomain(name), false)
    there.domains.get(name)!.state = 'active'
    assert.equal(await mailgun.confirmDomain(name), true)
    const { selector, record } = await mailgun.addKey(name, 'rc2-a')
    assert.deepEqual([selector, record.name], ['rc2-a', `rc2-a._domainkey.${name}`])
    await mailgun.activateKey(name, 'rc2-a')
    assert.ok(there.domains.get(name)!.keys[1]!.active)
    await mailgun.removeDomain(name)
    await mailgun.removeDomain(name)
    assert.equal(there.domains.size, 0)
  })

  it('refuses a key that the provider refuses', async () => {
    const refused = { code: 'provider.key_refused', status: 400, message: 'the mail provider refuses the API key' }
    await assert.rejects(open('wrong').checkKey(), refused)
    await assert.rejects(open('wrong').addDomain(name, 'rc1-a'), refused)
  })

  it('passes on why the provider rejects', async () => {
    there.fail({ status: 400, body: '{"message":"Domain is blacklisted"}' })
    const refused = { code: 'provider.refused', message: 'the mail provider says: Domain is blacklisted' }
    await assert.rejects(open().addDomain(name, 'rc1-a'), refused)
    there.fail()
    await assert.rejects(open().confirmDomain(name), {
      code: 'provider.refused',
      message: 'the mail provider says: Domain not found',
    })
  })

  it('retries idempotent requests, and never repeats adding', async () => {
    there.fail({ status: 503, body: '', times: 2 })
    await open().checkKey()
    assert.equal(there.requests.length, 3)
    there.requests.length = 0
    there.fail({ status: 503, body: '', times: 1 })
    await assert.rejects(open().addDomain(name, 'rc1-a'), { code: 'service.unavailable' })
    assert.deepEqual(there.requests, ['POST /v4/domains'])
  })

  const failures: [what: string, failure: Parameters<TestMailgun['fail']>[0]][] = [
    ['it says nothing', 'silence'],
    ['it fails', { status: 500, body: '<html>' }],
    ['it has enough of us', { status: 429, body: '{}' }],
    ['its answer is no JSON', { status: 200, body: '<html>welcome</html>' }],
    ['its answer is cut off', { status: 200, body: '{"domain":{"state":' }],
    ['its answer is another one', { status: 200, body: '{"ok":true}' }],
    ['its answer is null', { status: 200, body: 'null' }],
    ['its records are none', { status: 200, body: '{"domain":{"state":"active"},"sending_dns_records":[]}' }],
    [
      'its records have no value',
      {
        status: 200,
        body: '{"domain":{"state":"active"},"sending_dns_records":[{"record_type":"TXT","name":"a._domainkey.b"}]}',
      },
    ],
    ['its answer has no end', { status: 200, body: `"${'x'.repeat(1_100_000)}"` }],
    ['it sends us elsewhere', { status: 302, body: '' }],
  ]
  for (const [what, failure] of failures) {
    it(`is unavailable when ${what}`, async () => {
      there.fail(failure)
      const mailgun = open(there.apiKey, failure === 'silence' ? 300 : 5000)
      await assert.rejects(mailgun.addDomain(name, 'rc1-a'), { code: 'service.unavailable', status: 503 })
    })
  }

  it('is unavailable when nothing listens', async () => {
    const mailgun = createMailgun({ apiUrl: 'http://127.0.0.1:1', apiKey: 'k' }, { answerMs: 300, callMs: 900 })
    await assert.rejects(mailgun.checkKey(), { code: 'service.unavailable' })
  })
})
